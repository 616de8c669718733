#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/internal/neighbour_space.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

struct PartitionSettings {
  size_t leaf_max = 1024;  ///< Members of a leaf at most.
  size_t copies = 12;      ///< Leaves that a node lies in, about.
  /// Leaves that a group of the first level is aimed at, each group carved in its own way: the
  /// more, the fewer leaders there are to compare with.
  double leaves_per_group = 1;
  uint64_t seed = 1;
};

/// Overlapping groups of near nodes; every node is in at least one.
struct NeighbourLeaves {
  std::vector<uint32_t> members;
  std::vector<size_t> first;  ///< Leaf i is members[first[i], first[i + 1]).
  size_t count() const { return first.size() - 1; }
  std::span<const uint32_t> of(size_t leaf) const {
    return std::span(members).subspan(first[leaf], first[leaf + 1] - first[leaf]);
  }
};

/// Ball carving around random nodes: each node goes to its nearest leaders, at several of them on
/// the first level; groups that are too large are carved again. `nodes` are distinct.
Result<NeighbourLeaves> partition_neighbours(const NeighbourSpace& space,
                                             std::span<const uint32_t> nodes,
                                             const PartitionSettings& settings, double share,
                                             NeighbourWork& work);

}  // namespace sibyl::index
