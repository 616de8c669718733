#pragma once

#include <cstdint>
#include <string_view>

namespace sibyl::index {

// Sections of a postings file, docs/formats/postings.md.
inline constexpr std::string_view kPostingsMagic = "SIBYLPST";
inline constexpr uint32_t kPostingsVersion = 2;
inline constexpr uint32_t kPostingsMeta = 1;
inline constexpr uint32_t kPostingsLengths = 2;
inline constexpr uint32_t kPostingsTermOffsets = 3;
inline constexpr uint32_t kPostingsTermBytes = 4;
inline constexpr uint32_t kPostingsFrequencies = 5;
inline constexpr uint32_t kPostingsFirstBlock = 6;
inline constexpr uint32_t kPostingsBlocks = 7;
inline constexpr uint32_t kPostingsData = 8;

inline constexpr uint32_t kPostingsBlockRows = 128;

struct PostingsMeta {
  uint64_t rows = 0;
  uint64_t terms = 0;
  uint64_t blocks = 0;
  uint64_t total_length = 0;
  uint32_t value_kind = 0;  ///< 0: term frequencies
  uint32_t block_rows = kPostingsBlockRows;
};

/// What a search needs to know of a block before it decodes it.
struct PostingsBlock {
  uint32_t last_row = 0;
  uint32_t value_max = 0;   ///< largest frequency
  uint32_t length_min = 0;  ///< shortest row; with `value_max` it bounds every score of the block
  uint8_t row_bits = 0;     ///< of a gap between rows
  uint8_t value_bits = 0;   ///< of a frequency less one
  uint16_t zero = 0;
  uint64_t data_begin = 0;  ///< in the data section
};

}  // namespace sibyl::index
