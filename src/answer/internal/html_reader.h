#pragma once

#include <string>
#include <string_view>

#include "answer/document.h"
#include "base/result.h"

namespace sibyl::answer::internal {

/// The charset that an HTML file declares in its first bytes (`meta`, XML declaration), or empty.
std::string declared_charset(std::string_view bytes);

/// Title, main content and heading structure of a page in UTF-8; id and source are the caller's.
/// InvalidData when the page nests too deep or holds no text.
Result<Document> read_html(std::string_view html, size_t depth_max);

}  // namespace sibyl::answer::internal
