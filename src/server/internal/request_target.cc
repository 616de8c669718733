#include "server/internal/request_target.h"

#include <algorithm>
#include <utility>

#include "net/http_client.h"

namespace sibyl::server {
namespace {

bool is_forbidden(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7F' || c == '#';
}

Result<std::string> decode_query_part(std::string_view part) {
  std::string spaced(part);
  std::ranges::replace(spaced, '+', ' ');
  return net::decode_uri_part(spaced);
}

}  // namespace

Result<std::map<std::string, std::string>> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  size_t parameters = 0;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) {
      continue;
    }
    if (++parameters > kQueryParametersMax) {
      return fail(Code::InvalidArgument, "the address has more than {} parameters",
                  kQueryParametersMax);
    }
    const size_t equals = pair.find('=');
    auto name = decode_query_part(pair.substr(0, equals));
    auto value = equals == std::string_view::npos ? Result<std::string>(std::string())
                                                  : decode_query_part(pair.substr(equals + 1));
    if (!name || !value) {
      return pass_on(!name ? name : value);
    }
    query.insert_or_assign(std::move(*name), std::move(*value));
  }
  return query;
}

Result<RequestTarget> parse_request_target(std::string_view target) {
  if (target.size() > kTargetBytesMax) {
    return fail(Code::TooLarge, "the address has {} bytes; at most {} are read", target.size(),
                kTargetBytesMax);
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.starts_with(scheme)) {
      const size_t path = target.find_first_of("/?", scheme.size());
      target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
      break;
    }
  }
  const std::string_view path = target.substr(0, target.find('?'));
  if (!path.starts_with('/') || std::ranges::any_of(target, is_forbidden)) {
    return fail(Code::InvalidArgument,
                "the address must begin with '/' and hold no space, '#' or control character");
  }
  auto query = parse_query(target.substr(std::min(target.size(), path.size() + 1)));
  if (!query) {
    return pass_on(query);
  }
  return RequestTarget{std::string(path), std::move(*query)};
}

Result<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> segments;
  if (path == "/") {
    return segments;
  }
  while (!path.empty()) {
    if (path.front() != '/') {
      return fail(Code::InvalidArgument, "the path of an address must begin with '/'");
    }
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    if (segments.size() == kPathSegmentsMax) {
      return fail(Code::InvalidArgument, "the path has more than {} parts", kPathSegmentsMax);
    }
    auto decoded = net::decode_uri_part(segment);
    if (!decoded) {
      return pass_on(decoded);
    }
    segments.push_back(std::move(*decoded));
  }
  return segments;
}

}  // namespace sibyl::server
