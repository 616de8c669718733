#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "index/internal/postings_file.h"

namespace sibyl::index {

/// The blocks of one term, as they lie in a postings file. A view; empty when the term is unknown.
class PostingsList {
 public:
  PostingsList() = default;
  /// The lengths of the blocks' contents were checked.
  PostingsList(std::span<const PostingsBlock> blocks, uint32_t count, std::string_view data)
      : blocks_(blocks), count_(count), data_(data) {}

  uint32_t count() const { return count_; }
  std::span<const PostingsBlock> blocks() const { return blocks_; }
  /// No row of the block is below it.
  uint32_t first_row_min(size_t block) const {
    return block == 0 ? 0 : blocks_[block - 1].last_row + 1;
  }
  /// First block at or after `from` whose last row is not below `row`.
  size_t find_block(size_t from, uint32_t row) const {
    const auto begin = blocks_.begin() + static_cast<ptrdiff_t>(from);
    return static_cast<size_t>(
        std::partition_point(begin, blocks_.end(),
                             [row](const PostingsBlock& at) { return at.last_row < row; }) -
        blocks_.begin());
  }
  /// Fills in the rows of a block and gives their number; 0 when its bytes do not decode (a
  /// checksum that was made to fit). Room for kPostingsBlockRows.
  uint32_t rows(size_t block, uint32_t* rows) const;
  /// How often the term stands in each of these rows.
  void frequencies(size_t block, uint32_t* frequencies) const;
  /// The same of one of them.
  uint32_t frequency(size_t block, uint32_t place) const;
  /// Both; the number of rows.
  uint32_t decode(size_t block, uint32_t* rows, uint32_t* frequencies) const;

 private:
  uint32_t rows_of(size_t block) const {
    return std::min(kPostingsBlockRows, count_ - static_cast<uint32_t>(block) * kPostingsBlockRows);
  }

  std::span<const PostingsBlock> blocks_;
  uint32_t count_ = 0;
  std::string_view data_;
};

}  // namespace sibyl::index
