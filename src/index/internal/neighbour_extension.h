#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/internal/neighbour_duplicates.h"
#include "index/internal/neighbour_edges.h"
#include "index/internal/neighbour_space.h"
#include "index/internal/neighbour_work.h"
#include "index/neighbour_graph.h"

namespace sibyl::index {

/// Where the nodes of an earlier graph went. New nodes follow the kept ones.
struct NodeMoves {
  NodeMoves(const RowSet& removed, size_t old_count);

  std::vector<uint32_t> new_of;  ///< NeighbourGraph::kNone for removed nodes.
  std::vector<uint32_t> old_of;  ///< Of kept nodes; its size is their number.
};

/// Fills the rows of kept representatives: their old neighbours, and where some of those are gone,
/// a choice among the rest and the neighbours of what is gone (FreshDiskANN, Singh et al. 2021).
Result<void> mend_rows(const NeighbourSpace& space, const NeighbourGraph& old,
                       const NodeMoves& moves, const NeighbourDuplicates& duplicates, double share,
                       NeighbourWork& work, NeighbourEdges& edges);

/// Fills the rows of new nodes: what a search from `entry` among the kept ones finds, and what is
/// near among the new ones; then offers each to the nodes it chose.
Result<void> add_rows(const NeighbourSpace& space, std::span<const uint32_t> added, uint32_t entry,
                      const NeighbourGraphSettings& settings, double share, NeighbourWork& work,
                      NeighbourEdges& edges);

}  // namespace sibyl::index
