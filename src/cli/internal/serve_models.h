#pragma once

#include "base/result.h"
#include "cli/internal/arguments.h"
#include "cli/internal/terminal.h"

namespace sibyl::cli {

/// `sibyl serve --role models`: loads the models, opens the ports, serves until SIGTERM.
Result<int> serve_models(const Arguments& arguments, const Terminal& terminal);

}  // namespace sibyl::cli
