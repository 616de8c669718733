#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"

// Whatever is accepted must be written in a form that is accepted again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto value = sibyl::base::parse_json({reinterpret_cast<const char*>(data), size}, "input");
  if (value && !sibyl::base::parse_json(sibyl::base::dump_json(*value))) {
    std::abort();
  }
  return 0;
}
