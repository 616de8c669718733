#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sibyl::text {

/// A byte range of a text.
struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Sentences without the white space around them, in order: ends at . ! ? … and their full-width
/// forms followed by space or end (not after common abbreviations, initials, numbers), and at blank
/// lines and list items.
std::vector<Range> split_sentences(std::string_view text);

}  // namespace sibyl::text
