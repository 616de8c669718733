#pragma once

#include <string>

namespace sibyl::base {

/// The value of a variable of the process's environment; empty when it is not set. Thread-safe
/// while nothing changes the environment, which ours do only before they start a thread.
std::string environment_variable(const char* name);

}  // namespace sibyl::base
