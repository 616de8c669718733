#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/sentences.h"

namespace sibyl::answer::internal {

/// A part of a document that can be the answer: vector `i` of the field "chunks" belongs to passage
/// `i`.
struct Passage {
  text::Range range;     ///< bytes of the document's text
  uint32_t heading = 0;  ///< index into PassageTable::headings
};

/// The passages of a row, in the order of the text. Format: docs/formats/passages.md.
struct PassageTable {
  std::vector<std::vector<std::string>> headings;  ///< heading paths, outermost first
  std::vector<Passage> passages;                   ///< at least one
};

std::string pack_passages(const PassageTable& table);
/// DataLoss when a count, index or range is wrong; `text_bytes` is the size of the document's text.
Result<PassageTable> unpack_passages(std::string_view bytes, size_t text_bytes);

}  // namespace sibyl::answer::internal
