#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/internal/neighbour_candidates.h"
#include "index/internal/neighbour_packed.h"
#include "index/internal/neighbour_space.h"

namespace sibyl::index {

/// Chooses the neighbours of one node. Not thread-safe: one for each thread.
class NeighbourPruner {
 public:
  explicit NeighbourPruner(const NeighbourSpace& space) : space_(space) {}

  /// At most `degree` of the sorted, distinct `candidates`, nearest first. First, from the nearest
  /// on, those that no chosen one is nearer to than the node is (the relative neighbourhood graph);
  /// then, while places are left, always the one that is covered least: by the ratio of the squared
  /// distances to the node and to the nearest chosen one. Valid until the next call.
  std::span<const Candidate> choose(std::span<const Candidate> candidates, size_t degree);

 private:
  void compare(std::span<const Candidate> candidates);
  float distance(size_t a, size_t b) const {
    return distances_[std::min(a, b) * stride_ + std::max(a, b)];
  }
  void take(size_t place);
  void take_uncovered(std::span<const Candidate> candidates, size_t degree);
  void take_least_covered(std::span<const Candidate> candidates, size_t degree);

  const NeighbourSpace& space_;
  std::vector<uint32_t> nodes_;
  PackedNodes packed_;
  std::vector<float> distances_;  ///< Between candidates; below the diagonal's panels nothing.
  size_t stride_ = 0;
  std::vector<size_t> taken_;  ///< Places among the candidates.
  std::vector<bool> is_taken_;
  std::vector<float> nearest_;  ///< Of each candidate, to a chosen one.
  std::vector<Candidate> chosen_;
};

}  // namespace sibyl::index
