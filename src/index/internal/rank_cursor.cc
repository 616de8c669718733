#include "index/internal/rank_cursor.h"

#include <algorithm>

namespace sibyl::index {

RankCursor::RankCursor(const RankedTerm& term)
    : list_(term.postings->list(term.text)),
      lengths_(term.postings->lengths()),
      share_(term.share) {
  bounds_.reserve(list_.blocks().size());
  for (const PostingsBlock& block : list_.blocks()) {
    bounds_.push_back(share_.bound(block.value_max, block.length_min));
  }
}

bool RankCursor::enter(uint32_t begin, uint32_t end) {
  window_begin_ = begin;
  window_end_ = end;
  while (window_block_ < bounds_.size() && block_last(window_block_) < begin) {
    ++window_block_;
  }
  seek_block_ = window_block_;
  seek_place_ = 0;
  window_bound_ = 0;
  bool any = false;
  for_each_block([&](size_t block) {
    window_bound_ = std::max(window_bound_, bounds_[block]);
    any = true;
  });
  return any;
}

void RankCursor::load(size_t block) {
  if (loaded_ != block) {
    count_ = list_.rows(block, rows_.data());
    loaded_ = block;
    weighed_ = false;
    seek_place_ = 0;
  }
}

void RankCursor::weigh() {
  if (!weighed_ && count_ > 0) {
    list_.frequencies(loaded_, frequencies_.data());
    for (uint32_t i = 0; i < count_; ++i) {
      shares_[i] = share_.of(frequencies_[i], lengths_[rows_[i]]);
    }
    weighed_ = true;
  }
}

double RankCursor::bound_of(uint32_t row) {
  while (seek_block_ < bounds_.size() && block_last(seek_block_) < row) {
    ++seek_block_;
  }
  return seek_block_ == bounds_.size() ? 0 : bounds_[seek_block_];
}

double RankCursor::share_of(uint32_t row) {
  if (seek_block_ == bounds_.size()) {
    return 0;
  }
  load(seek_block_);
  const std::span<const uint32_t> left =
      std::span(rows_).subspan(seek_place_, count_ - seek_place_);
  const auto found = std::lower_bound(left.begin(), left.end(), row);
  seek_place_ += static_cast<uint32_t>(found - left.begin());
  if (seek_place_ == count_ || rows_[seek_place_] != row) {
    return 0;
  }
  return share_.of(list_.frequency(seek_block_, seek_place_), lengths_[row]);
}

}  // namespace sibyl::index
