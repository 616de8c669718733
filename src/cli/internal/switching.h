#pragma once

#include <string>

#include "cli/internal/commands.h"

namespace sibyl::cli {

/// Sends the request that changes a collection's model. A server goes on in the background unless
/// --wait; this process stays until the switch is done, with a bar.
Result<int> switch_model(const Arguments& arguments, const Terminal& terminal,
                         const std::string& method, const std::string& target,
                         const std::string& body);

}  // namespace sibyl::cli
