#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json_rows.h"

// Every row lies within the body, in order.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto rows = sibyl::base::split_json_rows(body, 1000);
  if (!rows) {
    return 0;
  }
  const char* last = body.data();
  for (const sibyl::base::JsonRow& row : *rows) {
    if (row.text.data() < last || row.text.data() + row.text.size() > body.data() + body.size()) {
      std::abort();
    }
    last = row.text.data();
  }
  return 0;
}
