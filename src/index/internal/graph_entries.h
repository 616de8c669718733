#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/neighbour_graph.h"

namespace sibyl::index {

/// Nodes from which walks begin, the graph's own entry first, each once.
struct GraphEntries {
  std::vector<uint32_t> nodes;
  /// The first ones, for every walk: drawn far from each other as k-means++ draws its centres
  /// (Arthur and Vassilvitskii 2007), so that a cluster is not left out while another has several.
  /// About the root of the number of nodes, more where that leaves clusters without one. The others
  /// are drawn at random, for walks that can afford to look at more.
  size_t always = 0;
};

/// At most `entries_max` in all, where the first are not more.
GraphEntries choose_entries(std::span<const float> vectors, size_t dimension,
                            const NeighbourGraph& graph, size_t entries_max, uint64_t seed);

}  // namespace sibyl::index
