#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sibyl::store {

/// What the choice of a merge looks at.
struct SegmentSize {
  uint64_t rows = 0;
  uint64_t live_rows = 0;
};

/// Neighbouring segments that become one.
struct MergeRange {
  size_t first = 0;
  size_t count = 0;
  friend bool operator==(const MergeRange&, const MergeRange&) = default;
};

/// The next merge that is worth its writing, if any. Segments fall into classes of size, each
/// `width` times the one below, the lowest up to `rows_min * width`; `width` of one class side by
/// side become one of the next, with smaller ones between them. So a row is rewritten about once a
/// class. A segment of which a third or more is deleted is rewritten alone. `rows_max` bounds what
/// a merge makes.
std::optional<MergeRange> choose_merge(std::span<const SegmentSize> segments, uint64_t rows_min,
                                       size_t width, uint64_t rows_max);

}  // namespace sibyl::store
