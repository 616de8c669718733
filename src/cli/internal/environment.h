#pragma once

#include <cstdlib>
#include <string>

namespace sibyl::cli {

/// An environment variable's value; empty when it is not set.
inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace sibyl::cli
