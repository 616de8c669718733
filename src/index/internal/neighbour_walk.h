#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/internal/neighbour_edges.h"
#include "index/internal/neighbour_space.h"

namespace sibyl::index {

/// Best-first search in a graph under construction, by exact distances. Not thread-safe: one for
/// each thread.
class NeighbourWalk {
 public:
  NeighbourWalk(const NeighbourSpace& space, size_t nodes) : space_(space), seen_(nodes) {}

  /// Walks from `entry` towards `target` with a pool of `width`.
  void towards(const NeighbourEdges& edges, uint32_t entry, uint32_t target, size_t width);
  /// The pool after the walk: the nearest nodes met, nearest first.
  std::span<const Candidate> nearest() const { return pool_; }
  static size_t bytes(size_t nodes) { return nodes * sizeof(uint32_t); }

 private:
  bool see(uint32_t node);
  /// Place in the pool, or its size when it is full of nearer ones.
  size_t insert(Candidate candidate, size_t width);

  const NeighbourSpace& space_;
  std::vector<uint32_t> seen_;  ///< Number of the walk that met a node last.
  uint32_t walk_ = 0;
  std::vector<Candidate> pool_;
  std::vector<bool> expanded_;  ///< Beside pool_.
};

}  // namespace sibyl::index
