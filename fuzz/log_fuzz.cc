#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/internal/log_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto log = store::read_log(bytes, "fuzz", 1, 0)) {
    for (const store::LogRecord& record : log->changes) {
      store::Row row;
      uint64_t generation = 0;
      store::decode_put(record.payload, row, generation);
    }
  }
  // The payload by itself too: a checksum hides it from most changes.
  store::Row row;
  uint64_t generation = 0;
  store::decode_put(bytes, row, generation);
  std::string id;
  store::decode_delete(bytes, id);
  return 0;
}
