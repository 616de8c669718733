#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "store/internal/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(store::decode_manifest(bytes, "fuzz").has_value());
  // Again with a header that fits the body.
  std::string sealed("SIBYLMAN");
  base::put_u32(sealed, 1);
  base::put_u64(sealed, bytes.size());
  base::put_u32(sealed, base::crc32(bytes, base::crc32(sealed)));
  sealed += bytes;
  if (const auto manifest = store::decode_manifest(sealed, "fuzz")) {
    const std::string again = store::encode_manifest(*manifest);
    if (!store::decode_manifest(again, "fuzz")) {
      std::abort();
    }
  }
  return 0;
}
