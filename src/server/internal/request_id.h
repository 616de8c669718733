#pragma once

#include <map>
#include <string>

namespace sibyl::server {

inline constexpr size_t kRequestIdBytesMax = 128;

/// A new id: 16 hexadecimal digits.
std::string make_request_id();

/// The X-Request-Id of a request when it is one that may stand in a log line (letters, digits, `.`,
/// `_`, `-`, at most kRequestIdBytesMax), else a new one. Header names are in lower case.
std::string request_id_of(const std::map<std::string, std::string>& headers);

}  // namespace sibyl::server
