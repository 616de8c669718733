#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/neighbour_graph.h"

namespace sibyl::index {

/// Vectors in the geometry that the graph is built in: squared distance. Inner product becomes one
/// by a further coordinate (Bachrach et al. 2014, "Speeding Up the Xbox Recommender System"):
/// sqrt(M^2 - |x|^2) with M the longest length, and 0 for queries. The coordinate kept here is
/// M - sqrt(M^2 - |x|^2), the same up to a shift and exact for short vectors. Immutable;
/// thread-safe.
class NeighbourSpace {
 public:
  /// `vectors` is [count x dimension], finite, and outlives this unless its lengths are so extreme
  /// that squares overflow or vanish: then a scaled copy is kept.
  NeighbourSpace(std::span<const float> vectors, size_t dimension, Metric metric);

  size_t count() const { return norms_.size(); }
  /// Of the vectors as given.
  size_t dimension() const { return dimension_; }
  /// With the further coordinate: of what `pack` writes.
  size_t packed_dimension() const { return dimension_ + (further_.empty() ? 0 : 1); }
  const float* vector(uint32_t node) const { return vectors_.data() + node * dimension_; }
  /// Asks for the vector's first lines, for nodes that lie anywhere in memory.
  void prefetch(uint32_t node) const {
    constexpr size_t kFloatsPerLine = 16;
    constexpr size_t kLinesMax = 8;
    const float* from = vector(node);
    for (size_t i = 0; i < std::min(dimension_, kLinesMax * kFloatsPerLine); i += kFloatsPerLine) {
      __builtin_prefetch(from + i);
    }
  }
  /// Squared distance; never NaN or negative, the same bits in either order.
  float distance(uint32_t a, uint32_t b) const;
  /// Packs up to simd::kPanelRows nodes and their norms (0 for the missing) for panel_distances,
  /// around the mean of all, so that what they have in common costs no precision.
  void pack(std::span<const uint32_t> nodes, float* panel, float* norms) const;
  /// Bytes kept beside the vectors for each of them.
  static size_t bytes_per_vector() { return 2 * sizeof(float); }

 private:
  void rescale(float longest);
  void find_centre();
  void add_further();

  std::span<const float> vectors_;
  size_t dimension_;
  std::vector<float> scaled_;
  std::vector<float> centre_;
  std::vector<float> norms_;    ///< Squared distances from the centre, in the space.
  std::vector<float> further_;  ///< Empty for squared distance and for vectors of one length.
};

}  // namespace sibyl::index
