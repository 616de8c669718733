#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "index/neighbour_graph.h"
#include "simd/scan_table.h"

// What the codes of a graph index are made in (docs/formats/graph-index.md, "Codes"): directions
// between neighbours are projected on their principal axes, and groups of one, two or four of these
// numbers are coded by the nearest of 16 centroids. More bits go where the directions vary more
// (as in "Optimized Product Quantization", Ge et al. 2013).

namespace sibyl::index {

struct CodeSpace {
  Metric metric = Metric::kInnerProduct;
  float unit = 1;                   ///< Vectors without their mean are divided by it.
  std::vector<float> mean;          ///< [dimension]
  std::vector<float> axes;          ///< [head() x dimension], orthonormal
  std::vector<uint8_t> group_size;  ///< Numbers of each group, in order of the axes.
  std::vector<float> centroids;     ///< For each group 16 x its size.

  // What queries read of it, made by prepare_queries.
  std::vector<int8_t> byte_axes;  ///< [head() x dimension], each axis in steps of its own.
  std::vector<float> axis_steps;  ///< [head()]
  std::vector<float> columns;     ///< Number i in centroid j of its group, [head() x 16].

  void prepare_queries();
  size_t dimension() const { return mean.size(); }
  size_t groups() const { return group_size.size(); }
  size_t head() const { return mean.empty() ? 0 : axes.size() / mean.size(); }
};

/// A query as the codes see it. Reused from query to query by one thread.
class CodeQuery {
 public:
  /// False when the query's numbers are not finite or too great: codes then say nothing. The space
  /// is prepared for queries.
  bool prepare(const CodeSpace& space, std::span<const float> query);

  const simd::ScanTable& table() const { return table_; }
  /// Distance of the mean of all vectors, as `own`.
  float origin() const { return constant_; }
  /// Distance of a vector from its own code: for L2 the squared distance in units of the space, for
  /// inner products the negative product with the query at length 1, less what all share.
  float own(const int8_t* code, float step, float squared_length) const {
    const auto product = static_cast<float>(simd::wide_dot(wide_.data(), code, dimension_));
    const float distance =
        constant_ + length_share_ * squared_length + product_share_ * (product * step);
    // No number: a damaged file's. It must not upset what sorts by distance.
    return distance < std::numeric_limits<float>::max() ? distance
                                                        : std::numeric_limits<float>::infinity();
  }
  /// Deviation of the difference of two such distances from codes of a step: each number of a code
  /// is off by up to half a step.
  float own_deviation(float step) const { return deviation_share_ * step; }

 private:
  void make_wide(float squared);
  void make_table(const CodeSpace& space);

  size_t dimension_ = 0;
  float constant_ = 0;
  float length_share_ = 0;
  float product_share_ = 0;
  float deviation_share_ = 0;
  float most_ = 0;  ///< Greatest magnitude of the numbers.
  std::vector<float> numbers_;
  std::vector<int8_t> bytes_;  ///< The numbers in steps of most_ / 127.
  std::vector<int32_t> byte_head_;
  std::vector<float> head_;
  std::vector<float> products_;
  std::vector<uint8_t> entries_;  ///< With room to align.
  std::vector<int16_t> wide_;
  simd::ScanTable table_;
};

}  // namespace sibyl::index
