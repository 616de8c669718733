#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sibyl::store {

/// Neighbouring segments under one index.
struct IndexRange {
  size_t first = 0;
  size_t count = 0;
  bool graph = false;
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

/// The next index of a field that is worth building, if any. From `flat_min` vectors on there is
/// one over all segments, from `graph_min` on a graph. A segment that is sealed then comes with
/// flat codes of its own. What a merge or a failure left without is compared vector by vector up to
/// a sixteenth of `flat_min`; then, or when more than eight indexes stand beside the large one, all
/// that follows that gets one; once it is a quarter of the large one, all get a new one. So a
/// vector is built into a large index about once each time the collection grows by a quarter.
/// `vectors` counts those of each segment, deleted ones too.
std::optional<IndexRange> choose_build(std::span<const uint64_t> vectors,
                                       std::span<const IndexRange> built, uint64_t flat_min,
                                       uint64_t graph_min);

}  // namespace sibyl::store
