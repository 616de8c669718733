#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/object_store.h"

namespace sibyl::net::internal {

// The XML bodies of the S3 protocol, read with libxml2: no network, no entities, no document type.

inline constexpr size_t kXmlBytesMax = size_t{8} << 20;

struct ListPage {
  std::vector<ObjectInfo> objects;
  std::string next;  ///< continuation token; empty: the last page
};
/// InvalidData when it is no listing, or holds a key or size that none can have.
Result<ListPage> parse_list_page(std::string_view xml);
/// The id in the reply that begins a multipart upload.
Result<std::string> parse_upload_id(std::string_view xml);

struct S3Error {
  std::string code;  ///< "NoSuchKey"; empty when the body is no error document
  std::string message;
};
S3Error parse_s3_error(std::string_view xml);
struct RoleCredentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;
  std::string expiration;
};
/// Of the token service's reply; empty texts when it is none.
RoleCredentials parse_role_reply(std::string_view xml);
/// The body that completes a multipart upload.
std::string complete_upload_xml(const std::vector<std::string>& etags);

}  // namespace sibyl::net::internal
