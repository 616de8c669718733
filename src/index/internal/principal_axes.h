#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

/// Orthonormal directions in which samples vary most, [axes x dimension], greatest first.
struct PrincipalAxes {
  size_t dimension = 0;
  std::vector<float> axes;
  std::vector<float> variances;  ///< Mean square of the samples along each axis.
  size_t count() const { return variances.size(); }
};

/// By subspace iteration; samples are [n x dimension] around 0, n > 0. The same seed gives the same
/// axes at any number of threads. Gives min(count, dimension, n) axes.
Result<PrincipalAxes> principal_axes(std::span<const float> samples, size_t dimension, size_t count,
                                     uint64_t seed, NeighbourWork& work, double share);

}  // namespace sibyl::index
