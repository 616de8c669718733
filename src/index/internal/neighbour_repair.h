#pragma once

#include <cstdint>
#include <span>

#include "index/internal/neighbour_edges.h"
#include "index/internal/neighbour_space.h"

namespace sibyl::index {

/// Makes every node of `nodes` reachable from `entry`, which is one of them: each that is not gets
/// an edge from a near node that is, in place of one that no other node is reached by.
void repair_reachability(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                         uint32_t entry, NeighbourEdges& edges);
/// Memory that the repair needs meanwhile.
size_t repair_bytes(size_t nodes);

}  // namespace sibyl::index
