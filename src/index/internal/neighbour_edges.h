#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/internal/neighbour_candidates.h"

namespace sibyl::index {

/// A graph under construction: each node's neighbours with their distances, nearest first.
class NeighbourEdges {
 public:
  NeighbourEdges(size_t nodes, size_t degree)
      : degree_(degree), counts_(nodes), edges_(nodes * degree) {}

  size_t nodes() const { return counts_.size(); }
  size_t degree() const { return degree_; }
  std::span<const Candidate> of(uint32_t node) const {
    return std::span(edges_).subspan(node * degree_, counts_[node]);
  }
  /// At most degree() of them.
  void set(uint32_t node, std::span<const Candidate> neighbours) {
    std::copy(neighbours.begin(), neighbours.end(),
              edges_.begin() + static_cast<std::ptrdiff_t>(node * degree_));
    counts_[node] = static_cast<uint32_t>(neighbours.size());
  }
  static size_t bytes(size_t nodes, size_t degree) {
    return nodes * (sizeof(uint32_t) + degree * sizeof(Candidate));
  }

 private:
  size_t degree_;
  std::vector<uint32_t> counts_;
  std::vector<Candidate> edges_;
};

}  // namespace sibyl::index
