// Bodies that an object store may send: listings, errors, ids of uploads.
#include <cstdint>
#include <string_view>

#include "net/internal/s3_xml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  const auto page = sibyl::net::internal::parse_list_page(xml);
  if (page) {
    for (const auto& object : page->objects) {
      if (object.key.empty() || object.key.size() > 1024) {
        __builtin_trap();
      }
    }
  }
  static_cast<void>(sibyl::net::internal::parse_s3_error(xml));
  static_cast<void>(sibyl::net::internal::parse_upload_id(xml));
  static_cast<void>(sibyl::net::internal::parse_role_reply(xml));
  return 0;
}
