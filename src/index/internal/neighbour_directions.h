#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/internal/neighbour_space.h"
#include "index/internal/neighbour_work.h"
#include "simd/directions.h"

namespace sibyl::index {

/// Where nodes lie along a few random directions: the sides of them on which another node lies say
/// roughly in which direction it is (locality-sensitive hashing by hyperplanes, Charikar 2002).
/// Immutable once placed; thread-safe.
class NeighbourDirections {
 public:
  /// Cells of directions that a node's candidates are kept in: twice `degree`, at most 256.
  static size_t cells(size_t degree);
  static size_t bytes_per_node() { return simd::kDirections * sizeof(float); }

  NeighbourDirections(const NeighbourSpace& space, size_t cells, uint64_t seed);
  /// Must have been called for every node that is asked for.
  Result<void> place(const NeighbourSpace& space, std::span<const uint32_t> nodes, double share,
                     NeighbourWork& work);

  /// simd::kDirections numbers, 0 where there are fewer directions.
  const float* of(uint32_t node) const { return places_.data() + size_t{node} * simd::kDirections; }

 private:
  size_t count_ = 0;
  std::vector<float> directions_;  ///< [count_ x dimension]
  std::vector<float> places_;      ///< [nodes x simd::kDirections]
};

}  // namespace sibyl::index
