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
  std::vector<float> places;     ///< Along the directions.
  std::vector<uint8_t> cells;
  NeighbourCandidates::Scratch offer;
};

void compare_leaf(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                  const NeighbourDirections& directions, LeafScratch& scratch,
                  NeighbourCandidates& candidates) {
  scratch.packed.pack(space, nodes);
  scratch.places.clear();
  for (const uint32_t node : nodes) {
    const float* place = directions.of(node);
    scratch.places.insert(scratch.places.end(), place, place + simd::kDirections);
  }
  scratch.cells.resize(nodes.size());
  const size_t stride = scratch.packed.norms.size();
  scratch.distances.resize(simd::kPanelRows * stride);
  for (size_t panel = 0; panel < scratch.packed.panel_count(); ++panel) {
    const size_t begin = panel * simd::kPanelRows;
    const size_t end = std::min(nodes.size(), begin + simd::kPanelRows);
    for (size_t i = begin; i < end; ++i) {
      candidates.prefetch(nodes[i]);
    }
    scratch.packed.distances_of_panel(panel, scratch.packed, 0, scratch.distances.data());
    for (size_t i = begin; i < end; ++i) {
      simd::direction_codes(directions.of(nodes[i]), scratch.places.data(), nodes.size(),
                            scratch.cells.data());
      candidates.offer(nodes[i], nodes, scratch.distances.data() + (i - begin) * stride,
                       scratch.cells.data(), scratch.offer);
    }
  }
}

}  // namespace

size_t leaf_bytes(size_t leaf_max, size_t dimension) {
  const size_t rows = leaf_max + simd::kPanelRows;
  return rows * (dimension + 1 + simd::kPanelRows + simd::kDirections + 1 + 4) * sizeof(float);
}

Result<void> compare_leaves(const NeighbourSpace& space, const NeighbourLeaves& leaves,
                            const NeighbourDirections& directions, double share,
                            NeighbourWork& work, NeighbourCandidates& candidates) {
  std::vector<LeafScratch> scratch(work.workers());
  return work.for_each(leaves.count(), share, [&](size_t leaf, size_t worker) {
    compare_leaf(space, leaves.of(leaf), directions, scratch[worker], candidates);
  });
}

}  // namespace sibyl::index
