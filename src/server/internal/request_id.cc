#include "server/internal/request_id.h"

#include <algorithm>

#include "base/random.h"

namespace sibyl::server {

std::string make_request_id() {
  return base::random_hex(8);
}

std::string request_id_of(const std::map<std::string, std::string>& headers) {
  const auto given = headers.find("x-request-id");
  if (given == headers.end() || given->second.empty() ||
      given->second.size() > kRequestIdBytesMax) {
    return make_request_id();
  }
  const bool clean = std::ranges::all_of(given->second, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  return clean ? given->second : make_request_id();
}

}  // namespace sibyl::server
