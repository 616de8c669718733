#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http.h"

namespace sibyl::server {

/// The page: the files built into the program, or those of a folder (--web-root). Paths that name
/// no file and have no dot give index.html, because the page has addresses of its own. Thread-safe.
class PageSource {
 public:
  static std::unique_ptr<PageSource> create(const std::string& web_root);
  virtual ~PageSource() = default;
  /// Empty when there is nothing at the path. Only for GET and HEAD.
  virtual std::optional<Response> find(const Request& request) const = 0;
};

/// Whether an Accept-Encoding lets gzip be sent: named or `*`, without q=0.
bool accepts_gzip(std::string_view accept_encoding);
/// Whether an If-None-Match names the tag (weak comparison) or is `*`.
bool matches_etag(std::string_view if_none_match, std::string_view etag);
/// The type of a file by its ending; application/octet-stream for unknown ones.
std::string_view content_type_of(std::string_view path);

}  // namespace sibyl::server
