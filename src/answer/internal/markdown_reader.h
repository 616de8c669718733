#pragma once

#include <string_view>

#include "answer/document.h"
#include "base/result.h"

namespace sibyl::answer::internal {

/// Markdown in UTF-8 to title, text and sections: ATX and Setext headings, front matter (title,
/// url, other keys to metadata), code as it stands, links and emphasis as their text. Not a
/// renderer: what it does not know stays as it is written. InvalidData when nothing is left.
Result<Document> read_markdown(std::string_view markdown);

/// Inline marks of one line removed: links, images, emphasis, code ticks, tags, escapes.
std::string plain_inline(std::string_view line);

}  // namespace sibyl::answer::internal
