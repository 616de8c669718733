#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "index/bm25.h"
#include "index/internal/postings_list.h"

namespace sibyl::index {

/// One term's walk over the rows of a segment, by windows of rows that ascend. Keeps one decoded
/// block.
class RankCursor {
 public:
  explicit RankCursor(const RankedTerm& term);

  /// The next window, [begin, end); false when the term stands in none of its rows.
  bool enter(uint32_t begin, uint32_t end);
  /// No row of the window gets more from this term.
  double window_bound() const { return window_bound_; }
  /// Calls visit(block) for the blocks that reach into the window.
  template <class Visit>
  void for_each_block(const Visit& visit) const {
    for (size_t block = window_block_;
         block < list_.blocks().size() && list_.first_row_min(block) < window_end_; ++block) {
      visit(block);
    }
  }
  double block_bound(size_t block) const { return bounds_[block]; }
  uint32_t block_first(size_t block) const { return list_.first_row_min(block); }
  uint32_t block_last(size_t block) const { return list_.blocks()[block].last_row; }
  /// Calls visit(row, share) for the window's rows of a block.
  template <class Visit>
  void for_each_row(size_t block, const Visit& visit) {
    load(block);
    weigh();
    const auto* const from = std::lower_bound(rows_.data(), rows_.data() + count_, window_begin_);
    for (auto i = static_cast<uint32_t>(from - rows_.data()); i < count_ && rows_[i] < window_end_;
         ++i) {
      visit(rows_[i], shares_[i]);
    }
  }
  /// No more than this is the share of a row of the window; without decoding anything. Rows ascend
  /// from call to call within a window.
  double bound_of(uint32_t row);
  /// The share of the row that bound_of was asked about, 0 when the term does not stand there.
  double share_of(uint32_t row);

 private:
  void load(size_t block);
  void weigh();

  PostingsList list_;
  std::span<const uint32_t> lengths_;
  Bm25Share share_;
  std::vector<double> bounds_;  ///< of every block
  uint32_t window_begin_ = 0;
  uint32_t window_end_ = 0;
  size_t window_block_ = 0;  ///< first one that reaches into the window
  double window_bound_ = 0;
  size_t seek_block_ = 0;  ///< of bound_of and share_of
  uint32_t seek_place_ = 0;
  size_t loaded_ = SIZE_MAX;
  bool weighed_ = false;
  uint32_t count_ = 0;
  std::array<uint32_t, kPostingsBlockRows> rows_{};
  std::array<uint32_t, kPostingsBlockRows> frequencies_{};
  std::array<double, kPostingsBlockRows> shares_{};
};

}  // namespace sibyl::index
