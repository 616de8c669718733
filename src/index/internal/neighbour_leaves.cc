#include "index/internal/neighbour_leaves.h"

#include <algorithm>
#include <vector>

#include "index/internal/neighbour_packed.h"
#include "simd/matrix_distance.h"

namespace sibyl::index {
namespace {

struct LeafScratch {
  PackedNodes packed;
  std::vector<float> distances;  ///< Of one panel's nodes to all.
  NeighbourCandidates::Scratch offer;
};

void compare_leaf(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                  LeafScratch& scratch, NeighbourCandidates& candidates) {
  scratch.packed.pack(space, nodes);
  const size_t stride = scratch.packed.norms.size();
  scratch.distances.resize(simd::kPanelRows * stride);
  for (size_t panel = 0; panel < scratch.packed.panel_count(); ++panel) {
    scratch.packed.distances_of_panel(panel, scratch.packed, 0, scratch.distances.data());
    const size_t begin = panel * simd::kPanelRows;
    for (size_t i = begin; i < std::min(nodes.size(), begin + simd::kPanelRows); ++i) {
      candidates.offer(nodes[i], nodes, scratch.distances.data() + (i - begin) * stride,
                       scratch.offer);
    }
  }
}

}  // namespace

size_t leaf_bytes(size_t leaf_max, size_t dimension) {
  const size_t rows = leaf_max + simd::kPanelRows;
  return rows * (dimension + 1 + simd::kPanelRows + 1 + 4) * sizeof(float);
}

Result<void> compare_leaves(const NeighbourSpace& space, const NeighbourLeaves& leaves,
                            double share, NeighbourWork& work, NeighbourCandidates& candidates) {
  std::vector<LeafScratch> scratch(work.workers());
  return work.for_each(leaves.count(), share, [&](size_t leaf, size_t worker) {
    compare_leaf(space, leaves.of(leaf), scratch[worker], candidates);
  });
}

}  // namespace sibyl::index
