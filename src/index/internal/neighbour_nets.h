#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/internal/neighbour_edges.h"
#include "index/internal/neighbour_space.h"
#include "index/internal/neighbour_work.h"
#include "index/neighbour_graph.h"

namespace sibyl::index {

/// Some of `nodes`, in their order: each that is left out has one of them as neighbour. A sparse
/// sample that leaves no region out.
std::vector<uint32_t> net_of(std::span<const uint32_t> nodes, const NeighbourEdges& edges);

/// Links over far distances. In a cluster of more near vectors than a node has candidates nothing
/// leads out of it. So the net of the graph is connected as all nodes were, and the net of that net
/// too; each of their nodes gives some of its places to neighbours there.
Result<void> link_nets(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                       const NeighbourGraphSettings& settings, double share, NeighbourWork& work,
                       NeighbourEdges& edges);
/// Memory that link_nets needs meanwhile, beside the candidates of a build.
size_t net_bytes(size_t nodes, size_t degree);

}  // namespace sibyl::index
