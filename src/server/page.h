#pragma once

#include <string_view>

namespace sibyl::server {

/// One file of the page, embedded at build time. Everything it views lives as long as the program.
struct PageAsset {
  std::string_view path;  ///< from the root, with the slash: "/index.html", "/assets/a-1f.js"
  std::string_view content_type;  ///< "text/html; charset=utf-8"
  std::string_view gzip;          ///< the contents, one gzip member
  std::string_view etag;          ///< strong, with its quotes: "\"9f86d0…\""
  bool immutable = false;         ///< the name holds a hash of the contents: may be cached for ever
};

/// The asset at exactly this path, or nullptr; nullptr for every path when no page was built in.
const PageAsset* find_page_asset(std::string_view path);

}  // namespace sibyl::server
