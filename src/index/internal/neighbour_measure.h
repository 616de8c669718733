#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/internal/neighbour_candidates.h"
#include "index/internal/neighbour_packed.h"

namespace sibyl::index {

/// Distances from one node to a few, with the bits that leaves give a pair. Not thread-safe.
class NeighbourMeasure {
 public:
  explicit NeighbourMeasure(const NeighbourSpace& space) : space_(space) {}

  /// Of the distinct `others` without `node` itself, sorted; valid until the next call.
  std::span<const Candidate> from(uint32_t node, std::vector<uint32_t>& others);

 private:
  const NeighbourSpace& space_;
  PackedNodes here_;
  PackedNodes packed_;
  std::vector<float> distances_;
  std::vector<Candidate> measured_;
};

}  // namespace sibyl::index
