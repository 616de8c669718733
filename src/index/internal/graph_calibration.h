#pragma once

#include <array>
#include <span>

#include "index/internal/code_space.h"
#include "index/internal/graph_file.h"
#include "index/internal/graph_walk.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

struct GraphEfforts {
  std::array<uint32_t, kGraphEfforts> efforts{};
  /// What the greatest effort reached, where that is less than the last recall; else 0.
  float recall_max = 0;
};

/// The efforts that reach kGraphRecalls on queries that lie as far from the vectors as these from
/// each other; the greatest one for those that none reaches. The same seed gives the same at any
/// number of threads.
Result<GraphEfforts> calibrate_efforts(const GraphNodes& graph, const CodeSpace& space,
                                       std::span<const float> vectors, uint64_t seed,
                                       NeighbourWork& work, double share);

}  // namespace sibyl::index
