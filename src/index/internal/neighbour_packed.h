#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "index/internal/neighbour_space.h"
#include "simd/matrix_distance.h"

namespace sibyl::index {

/// Nodes packed into panels, for all distances between two such sets.
struct PackedNodes {
  std::vector<float> panels;
  std::vector<float> norms;  ///< simd::kPanelRows a panel, 0 beyond the last node.
  size_t dimension = 0;

  size_t panel_count() const { return norms.size() / simd::kPanelRows; }
  size_t panel_floats() const { return dimension * simd::kPanelRows; }

  void pack(const NeighbourSpace& space, std::span<const uint32_t> nodes) {
    dimension = space.packed_dimension();
    const size_t needed = (nodes.size() + simd::kPanelRows - 1) / simd::kPanelRows;
    panels.resize(needed * panel_floats());
    norms.resize(needed * simd::kPanelRows);
    for (size_t i = 0; i < needed; ++i) {
      const size_t at = i * simd::kPanelRows;
      for (size_t next = at + simd::kPanelRows;
           next < std::min(nodes.size(), at + 2 * simd::kPanelRows); ++next) {
        space.prefetch(nodes[next]);
      }
      space.pack(nodes.subspan(at, std::min(simd::kPanelRows, nodes.size() - at)),
                 panels.data() + i * panel_floats(), norms.data() + at);
    }
  }

  /// out[kPanelRows x others.norms.size()]: from the nodes of one panel to those of `others` from
  /// its panel `from` on; what lies before is left as it is.
  void distances_of_panel(size_t panel, const PackedNodes& others, size_t from, float* out) const {
    const size_t first = from * simd::kPanelRows;
    simd::panel_distances(panels.data() + panel * panel_floats(),
                          norms.data() + panel * simd::kPanelRows,
                          others.panels.data() + from * panel_floats(), others.norms.data() + first,
                          others.panel_count() - from, dimension, out + first, others.norms.size());
  }
};

}  // namespace sibyl::index
