#include "index/internal/postings_list.h"

#include "index/internal/bit_packing.h"

namespace sibyl::index {
namespace {

/// Gaps to rows. False when they do not ascend to `last`; all rows given out are at most `last`.
bool add_up(std::span<uint32_t> gaps, uint32_t first, uint32_t last) {
  uint64_t next = first;
  for (uint32_t& gap : gaps) {
    const uint64_t row = next + gap;
    gap = static_cast<uint32_t>(row);
    next = row + 1;
  }
  return next == uint64_t{last} + 1;
}

}  // namespace

uint32_t PostingsList::rows(size_t block, uint32_t* rows) const {
  const PostingsBlock& at = blocks_[block];
  const uint32_t count = rows_of(block);
  unpack_bits(data_.data() + at.data_begin, at.row_bits, std::span(rows, count));
  return add_up(std::span(rows, count), first_row_min(block), at.last_row) ? count : 0;
}

void PostingsList::frequencies(size_t block, uint32_t* frequencies) const {
  const PostingsBlock& at = blocks_[block];
  const uint32_t count = rows_of(block);
  unpack_bits(data_.data() + at.data_begin + packed_bytes(count, at.row_bits), at.value_bits,
              std::span(frequencies, count));
  for (uint32_t i = 0; i < count; ++i) {
    ++frequencies[i];
  }
}

uint32_t PostingsList::frequency(size_t block, uint32_t place) const {
  const PostingsBlock& at = blocks_[block];
  return 1 + unpack_one(data_.data() + at.data_begin + packed_bytes(rows_of(block), at.row_bits),
                        at.value_bits, place);
}

uint32_t PostingsList::decode(size_t block, uint32_t* rows, uint32_t* frequencies) const {
  const uint32_t count = this->rows(block, rows);
  if (count > 0) {
    this->frequencies(block, frequencies);
  }
  return count;
}

}  // namespace sibyl::index
