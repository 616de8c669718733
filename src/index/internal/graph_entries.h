#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/neighbour_graph.h"

namespace sibyl::index {

/// Nodes from which walks begin, the graph's own entry first, each once: drawn far from each other
/// as k-means++ draws its centres (Arthur and Vassilvitskii 2007), so that a cluster is not left
/// out while another has several. About the root of the number of nodes, more where that leaves
/// clusters without one.
std::vector<uint32_t> choose_entries(std::span<const float> vectors, size_t dimension,
                                     const NeighbourGraph& graph, uint64_t seed);

}  // namespace sibyl::index
