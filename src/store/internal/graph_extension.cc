#include "store/internal/graph_extension.h"

#include <cstdint>
#include <utility>

namespace sibyl::store {
namespace {

/// Of the vectors, those that came or went. Above that a build takes no longer.
constexpr double kChangedShareMax = 0.3;

/// Goes through the rows of segments, in the order of their sequences.
class RowWalk {
 public:
  RowWalk(std::span<const SegmentState> segments, size_t field)
      : segments_(segments), field_(field) {
    settle();
  }
  bool is_done() const { return segment_ == segments_.size(); }
  uint64_t sequence() const { return segments_[segment_].segment->sequence(row_); }
  /// Vectors of the row.
  size_t vectors() const {
    const index::VectorIndex& vectors = *segments_[segment_].vectors[field_];
    return vectors.vectors_of(row_).size() / vectors.dimension();
  }
  void next() {
    ++row_;
    settle();
  }

 private:
  void settle() {
    while (!is_done() && row_ == segments_[segment_].segment->rows()) {
      ++segment_;
      row_ = 0;
    }
  }

  std::span<const SegmentState> segments_;
  size_t field_;
  size_t segment_ = 0;
  uint32_t row_ = 0;
};

size_t count_vectors(std::span<const SegmentState> segments, size_t field) {
  size_t vectors = 0;
  for (const SegmentState& segment : segments) {
    vectors += segment.vectors[field]->vectors();
  }
  return vectors;
}

}  // namespace

std::optional<index::RowSet> removed_vectors(std::span<const SegmentState> then,
                                             std::span<const SegmentState> now, size_t field) {
  const size_t old_count = count_vectors(then, field);
  const size_t new_count = count_vectors(now, field);
  index::RowSet removed(old_count);
  size_t gone = 0;
  size_t node = 0;
  RowWalk next(now, field);
  for (RowWalk old(then, field); !old.is_done(); old.next()) {
    const size_t vectors = old.vectors();
    if (!next.is_done() && next.sequence() < old.sequence()) {
      return std::nullopt;  // a row that the graph does not know stands among its own
    }
    if (!next.is_done() && next.sequence() == old.sequence()) {
      next.next();
    } else {
      for (size_t i = node; i < node + vectors; ++i) {
        removed.insert(i);
      }
      gone += vectors;
    }
    node += vectors;
  }
  const size_t kept = old_count - gone;
  const size_t added = new_count - kept;
  if (static_cast<double>(gone + added) > kChangedShareMax * static_cast<double>(new_count)) {
    return std::nullopt;
  }
  return removed;
}

}  // namespace sibyl::store
