#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto plain = sibyl::base::gunzip(bytes, 1 << 20);
  if (plain && plain->size() > (1 << 20)) {
    std::abort();
  }
  const auto back = sibyl::base::gunzip(sibyl::base::gzip(bytes, 1), size);
  if (!back || *back != bytes) {
    std::abort();
  }
  return 0;
}
