#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "index/internal/neighbour_duplicates.h"
#include "index/internal/neighbour_edges.h"
#include "index/internal/neighbour_space.h"
#include "index/internal/neighbour_work.h"
#include "index/neighbour_graph.h"

namespace sibyl::index {

/// InvalidArgument on a wrong degree, dimension, length or number that is not finite.
Result<void> check_neighbour_input(std::span<const float> vectors, size_t dimension,
                                   const NeighbourGraphSettings& settings);
/// Bytes a build of `count` vectors needs beside the vectors, at the highest point.
uint64_t neighbour_build_bytes(size_t count, size_t dimension,
                               const NeighbourGraphSettings& settings);
/// TooLarge with both figures when that is above the settings' bound.
Result<void> check_neighbour_memory(size_t count, size_t dimension,
                                    const NeighbourGraphSettings& settings);

/// The node nearest to the mean of `nodes`, which are not none.
uint32_t middle_node(const NeighbourSpace& space, std::span<const uint32_t> nodes);

/// All the leaves that a node of a build lies in, for connect_nodes.
inline constexpr double kAllSides = 1;

/// Neighbours of `nodes` (distinct vectors) among each other: leaves of near nodes compared pair by
/// pair (PiPNN, "Ultra-Scalable Graph-Based Nearest Neighbor Indexing"), chosen by the relative
/// neighbourhood rule and linked back. With a smaller share of `sides` a node lies in fewer leaves,
/// for links that need not be the very nearest.
Result<void> connect_nodes(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                           const NeighbourGraphSettings& settings, double sides, double share,
                           NeighbourWork& work, NeighbourEdges& edges);

/// The adjacency as it is given out.
NeighbourGraph finish_graph(const NeighbourEdges& edges, uint32_t entry);

}  // namespace sibyl::index
