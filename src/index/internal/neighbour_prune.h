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

  /// At most `degree` of the sorted, distinct `candidates`, nearest first. First those that no
  /// nearer chosen one is nearer to (the relative neighbourhood graph), then those that this holds
  /// for with some slack (Vamana, Jayaram Subramanya et al. 2019), then the nearest of the rest, so
  /// that no place stays empty. Valid until the next call.
  std::span<const Candidate> choose(std::span<const Candidate> candidates, size_t degree);

 private:
  void compare(std::span<const Candidate> candidates);
  float distance(size_t a, size_t b) const {
    return distances_[std::min(a, b) * stride_ + std::max(a, b)];
  }
  void take(std::span<const Candidate> candidates, size_t degree, float slack);

  const NeighbourSpace& space_;
  std::vector<uint32_t> nodes_;
  PackedNodes packed_;
  std::vector<float> distances_;  ///< Between candidates; below the diagonal's panels nothing.
  size_t stride_ = 0;
  std::vector<size_t> taken_;  ///< Places among the candidates.
  std::vector<bool> is_taken_;
  std::vector<Candidate> chosen_;
};

}  // namespace sibyl::index
