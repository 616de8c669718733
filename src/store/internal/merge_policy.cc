#include "store/internal/merge_policy.h"

#include <algorithm>

namespace sibyl::store {
namespace {

size_t class_of(uint64_t rows, uint64_t rows_min, size_t width) {
  size_t level = 0;
  for (uint64_t bound = std::max<uint64_t>(rows_min, 1) * width; rows >= bound && level < 32;
       bound *= width) {
    ++level;
  }
  return level;
}

bool is_worn(const SegmentSize& segment) {
  return 3 * (segment.rows - segment.live_rows) >= segment.rows;
}

/// The first run of segments of class `level` or lower that holds `width` of that class.
std::optional<MergeRange> find_run(std::span<const SegmentSize> segments, uint64_t rows_min,
                                   size_t width, size_t level) {
  MergeRange run;
  size_t of_class = 0;
  for (size_t i = 0; i <= segments.size(); ++i) {
    const size_t its =
        i < segments.size() ? class_of(segments[i].live_rows, rows_min, width) : level + 1;
    if (its <= level) {
      ++run.count;
      of_class += its == level ? 1 : 0;
      continue;
    }
    if (of_class >= width) {
      return run;
    }
    run = {i + 1, 0};
    of_class = 0;
  }
  return std::nullopt;
}

/// A run cut where the rows would be too many for one segment.
MergeRange cut(std::span<const SegmentSize> segments, MergeRange run, uint64_t rows_max) {
  uint64_t rows = 0;
  for (size_t i = 0; i < run.count; ++i) {
    rows += segments[run.first + i].live_rows;
    if (rows > rows_max) {
      return {run.first, i};
    }
  }
  return run;
}

}  // namespace

std::optional<MergeRange> choose_merge(std::span<const SegmentSize> segments, uint64_t rows_min,
                                       size_t width, uint64_t rows_max) {
  for (size_t i = 0; i < segments.size(); ++i) {
    if (is_worn(segments[i])) {
      return MergeRange{i, 1};
    }
  }
  size_t highest = 0;
  for (const SegmentSize& segment : segments) {
    highest = std::max(highest, class_of(segment.live_rows, rows_min, width));
  }
  for (size_t level = 0; level <= highest && width >= 2; ++level) {
    if (const auto run = find_run(segments, rows_min, width, level)) {
      const MergeRange range = cut(segments, *run, rows_max);
      if (range.count >= 2) {
        return range;
      }
    }
  }
  return std::nullopt;
}

}  // namespace sibyl::store
