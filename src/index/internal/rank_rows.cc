#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "index/bm25.h"
#include "index/internal/rank_cursor.h"

namespace sibyl::index {
namespace {

constexpr uint32_t kWindowRows = 2048;
constexpr uint32_t kWindowWords = kWindowRows / 64;

/// Bits [begin, end) of a window, as far as they lie in the word.
uint64_t bits_between(uint32_t begin, uint32_t end, uint32_t word) {
  const uint32_t low = std::max(begin, word * 64) - word * 64;
  const uint32_t high = std::min(end, word * 64 + 64) - word * 64;
  return (high - low == 64 ? ~uint64_t{0} : (uint64_t{1} << (high - low)) - 1) << low;
}

/// Scores a segment window by window. In a window the terms whose bounds together cannot beat the
/// k-th best are left out at first: a row needs one of the others. Those are added up row by row;
/// what they found is then completed by the terms left out, the strongest first, as long as a row
/// can still win. Sums are exact in any order (Bm25Share).
class RankWalk {
 public:
  RankWalk(std::span<const RankedTerm> terms, const RowSet* allowed, uint64_t first_key,
           simd::TopK& best)
      : allowed_(allowed), first_key_(first_key), best_(best) {
    cursors_.reserve(terms.size());
    for (const RankedTerm& term : terms) {
      cursors_.emplace_back(term);
    }
  }

  void window(uint32_t begin, uint32_t end) {
    begin_ = begin;
    floor_ = best_.full() ? best_.threshold() : -std::numeric_limits<double>::infinity();
    if (!take_allowed(end) || !order_terms(end)) {
      return;
    }
    size_t needed = 0;  // the first term that a row cannot do without
    while (needed < order_.size() && sums_[needed + 1] <= floor_) {
      ++needed;
    }
    if (needed == order_.size()) {
      return;
    }
    for (size_t i = needed; i < order_.size(); ++i) {
      add_term(*order_[i], end);
    }
    if (needed == 0) {
      offer_touched();
    } else {
      complete(needed);
    }
  }

 private:
  struct Candidate {
    uint32_t row = 0;
    double score = 0;
  };

  /// False when no row of the window may be answered.
  bool take_allowed(uint32_t end) {
    const uint32_t words = (end - begin_ + 63) / 64;
    window_allowed_.fill(0);
    uint64_t any = 0;
    for (uint32_t i = 0; i < words; ++i) {
      window_allowed_[i] = allowed_ != nullptr ? allowed_->words()[begin_ / 64 + i] : ~uint64_t{0};
      any |= window_allowed_[i];
    }
    return any != 0;
  }

  /// The terms of the window, weakest first, and the sums of their bounds: sums_[i] is that of the
  /// first i.
  bool order_terms(uint32_t end) {
    order_.clear();
    for (RankCursor& cursor : cursors_) {
      if (cursor.enter(begin_, end)) {
        order_.push_back(&cursor);
      }
    }
    std::sort(order_.begin(), order_.end(), [](const RankCursor* a, const RankCursor* b) {
      return a->window_bound() < b->window_bound();
    });
    sums_.assign(1, 0);
    for (const RankCursor* cursor : order_) {
      sums_.push_back(sums_.back() + cursor->window_bound());
    }
    return !order_.empty();
  }

  bool any_allowed(const RankCursor& cursor, size_t block, uint32_t end) const {
    const uint32_t first = std::max(cursor.block_first(block), begin_) - begin_;
    const uint32_t last = std::min(cursor.block_last(block), end - 1) - begin_;
    uint64_t any = 0;
    for (uint32_t word = first / 64; word <= last / 64; ++word) {
      any |= window_allowed_[word] & bits_between(first, last + 1, word);
    }
    return any != 0;
  }

  void add_term(RankCursor& cursor, uint32_t end) {
    const double others = sums_.back() - cursor.window_bound();
    cursor.for_each_block([&](size_t block) {
      // A row of a block that is left out here cannot win, whatever it has from other terms.
      if (cursor.block_bound(block) + others <= floor_ || !any_allowed(cursor, block, end)) {
        return;
      }
      cursor.for_each_row(block, [&](uint32_t row, double share) {
        const uint32_t place = row - begin_;
        scores_[place] += share;
        touched_[place / 64] |= uint64_t{1} << (place % 64);
      });
    });
  }

  /// Calls visit(row, score) for the touched rows that are allowed, and forgets all.
  template <class Visit>
  void take_touched(const Visit& visit) {
    for (uint32_t i = 0; i < kWindowWords; ++i) {
      for (uint64_t word = touched_[i]; word != 0; word &= word - 1) {
        const uint32_t place = i * 64 + static_cast<uint32_t>(std::countr_zero(word));
        if ((window_allowed_[i] & word & (~word + 1)) != 0) {
          visit(begin_ + place, scores_[place]);
        }
        scores_[place] = 0;
      }
      touched_[i] = 0;
    }
  }

  void offer(uint32_t row, double score) {
    if (!best_.full() || score > static_cast<double>(best_.threshold())) {
      best_.add(static_cast<float>(score), first_key_ + row);
    }
  }

  void offer_touched() {
    take_touched([this](uint32_t row, double score) { offer(row, score); });
  }

  void complete(size_t needed) {
    candidates_.clear();
    take_touched([&](uint32_t row, double score) {
      if (score + sums_[needed] > floor_) {
        candidates_.push_back({row, score});
      }
    });
    for (size_t i = needed; i > 0 && !candidates_.empty(); --i) {
      RankCursor& cursor = *order_[i - 1];
      size_t kept = 0;
      for (Candidate candidate : candidates_) {
        if (candidate.score + sums_[i - 1] + cursor.bound_of(candidate.row) <= floor_) {
          continue;
        }
        candidate.score += cursor.share_of(candidate.row);
        if (candidate.score + sums_[i - 1] > floor_) {
          candidates_[kept++] = candidate;
        }
      }
      candidates_.resize(kept);
    }
    for (const Candidate& candidate : candidates_) {
      offer(candidate.row, candidate.score);
    }
  }

  const RowSet* allowed_;
  uint64_t first_key_;
  simd::TopK& best_;
  std::vector<RankCursor> cursors_;
  uint32_t begin_ = 0;
  double floor_ = 0;                ///< a score must be above it
  std::vector<RankCursor*> order_;  ///< of the window
  std::vector<double> sums_;        ///< of the window
  std::vector<Candidate> candidates_;
  std::array<uint64_t, kWindowWords> window_allowed_{};
  std::array<uint64_t, kWindowWords> touched_{};
  std::array<double, kWindowRows> scores_{};
};

}  // namespace

void rank_rows(std::span<const RankedTerm> terms, const RowSet* allowed, uint64_t first_key,
               simd::TopK& best) {
  if (terms.empty()) {
    return;
  }
  const auto rows = static_cast<uint32_t>(terms.front().postings->rows());
  RankWalk walk(terms, allowed, first_key, best);
  for (uint32_t begin = 0; begin < rows;) {
    const uint32_t end = begin + std::min(kWindowRows, rows - begin);
    walk.window(begin, end);
    begin = end;
  }
}

}  // namespace sibyl::index
