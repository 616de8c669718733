#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentences.h"
#include "text/tokenizer.h"

namespace sibyl::text {

/// A part of a document's text under one heading path.
struct Section {
  std::vector<std::string> headings;  ///< outermost first
  Range range;                        ///< bytes of the document's text
};

struct Chunk {
  Range range;
  uint32_t section = 0;  ///< index of the section that it lies in
};

struct ChunkOptions {
  size_t tokens = 200;  ///< at most, without special tokens
  size_t overlap = 40;  ///< tokens shared with the chunk before, cut at sentence starts if possible
};

/// Cuts a text within its sections into chunks of at most `options.tokens` tokens that begin and
/// end at sentences where sentences allow. Without a tokenizer a token is a run of 5 letters or a
/// sign. Every byte that is not white space lies in a chunk. Deterministic.
std::vector<Chunk> chunk_text(std::string_view text, const std::vector<Section>& sections,
                              const Tokenizer* tokenizer, const ChunkOptions& options);

}  // namespace sibyl::text
