#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::server {

inline constexpr size_t kTargetBytesMax = 16384;
inline constexpr size_t kQueryParametersMax = 64;
inline constexpr size_t kPathSegmentsMax = 32;

/// A request target cut in two: the path as it was sent, the query decoded.
struct RequestTarget {
  std::string path;
  std::map<std::string, std::string> query;
};

/// Origin form ("/a?b=c") or absolute form ("http://host/a?b=c", RFC 9112 3.2). In a query `+` is a
/// space and the last of equal names wins. InvalidArgument for anything else.
Result<RequestTarget> parse_request_target(std::string_view target);

/// Decoded pairs of a query or of a form (application/x-www-form-urlencoded).
Result<std::map<std::string, std::string>> parse_query(std::string_view text);

/// The decoded segments of a path: "/a/b%2Fc" gives "a", "b/c"; "/" gives none. A slash at the end
/// or two in a row give an empty segment.
Result<std::vector<std::string>> split_path(std::string_view path);

}  // namespace sibyl::server
