#include "base/environment.h"

#include <cstdlib>

namespace sibyl::base {

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): see the header
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace sibyl::base
