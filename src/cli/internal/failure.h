#pragma once

#include "base/error.h"
#include "cli/internal/arguments.h"

namespace sibyl::cli {

/// Says an error: text on standard error, with --json also as a document on standard output. The
/// exit status that goes with it.
int tell_failure(const Arguments& arguments, const Error& error);

}  // namespace sibyl::cli
