#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "server/internal/model_samples.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(server::decode_samples(bytes, "fuzz").has_value());
  // Again with a checksum that fits.
  base::put_u32(bytes, base::crc32(bytes));
  if (const auto samples = server::decode_samples(bytes, "fuzz")) {
    if (!server::decode_samples(server::encode_samples(*samples), "fuzz")) {
      std::abort();
    }
  }
  return 0;
}
