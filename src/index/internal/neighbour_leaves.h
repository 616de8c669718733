#pragma once

#include "base/result.h"
#include "index/internal/neighbour_candidates.h"
#include "index/internal/neighbour_directions.h"
#include "index/internal/neighbour_partition.h"
#include "index/internal/neighbour_space.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

/// Compares all pairs of every leaf and offers each node the others of its leaves. `directions` has
/// the places of all of them.
Result<void> compare_leaves(const NeighbourSpace& space, const NeighbourLeaves& leaves,
                            const NeighbourDirections& directions, double share,
                            NeighbourWork& work, NeighbourCandidates& candidates);
/// Memory that one thread needs for leaves of `leaf_max` nodes.
size_t leaf_bytes(size_t leaf_max, size_t dimension);

}  // namespace sibyl::index
