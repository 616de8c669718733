#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "index/internal/neighbour_duplicates.h"
#include "index/internal/neighbour_edges.h"
#include "index/internal/neighbour_space.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

/// Gives every node of `nodes` those that point at it as candidates too, and chooses anew among
/// all. The same for any number of threads.
Result<void> link_back(const NeighbourSpace& space, std::span<const uint32_t> nodes, double share,
                       NeighbourWork& work, NeighbourEdges& edges);
/// Takes the rows of `added` over from `rows` and offers each of them to the nodes it points at,
/// which choose anew.
Result<void> link_added(const NeighbourSpace& space, std::span<const uint32_t> added,
                        const NeighbourEdges& rows, double share, NeighbourWork& work,
                        NeighbourEdges& edges);
/// Memory that link_back needs meanwhile.
size_t link_back_bytes(size_t nodes, size_t degree);

/// Hangs the nodes of each class below its representative: a tree, each node of it with the
/// representative's neighbours in the places that are left.
void hang_duplicates(const NeighbourSpace& space, const NeighbourDuplicates& duplicates,
                     NeighbourEdges& edges);

}  // namespace sibyl::index
