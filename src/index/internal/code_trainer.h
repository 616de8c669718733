#pragma once

#include <span>

#include "index/internal/code_space.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

/// Sets mean and unit from all vectors, [n x dimension].
void measure_space(std::span<const float> vectors, size_t dimension, CodeSpace& space);

/// Chooses the axes and the centroids for `groups` groups from directions between neighbours of a
/// sample of nodes; `space` has its mean and unit.
Result<void> train_codes(std::span<const float> vectors, const NeighbourGraph& graph, size_t groups,
                         uint64_t seed, NeighbourWork& work, double share, CodeSpace& space);

}  // namespace sibyl::index
