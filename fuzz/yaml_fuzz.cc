#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sibyl::base::YamlLines lines;
  const auto value = sibyl::base::parse_yaml({reinterpret_cast<const char*>(data), size}, &lines);
  if (value) {
    sibyl::base::dump_json(*value);
  }
  return 0;
}
