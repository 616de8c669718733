#include "index/internal/neighbour_directions.h"

#include <algorithm>
#include <bit>

#include "base/random.h"
#include "simd/distance.h"

namespace sibyl::index {
namespace {
constexpr size_t kBlock = 1024;
constexpr size_t kCellsPerDegree = 2;
constexpr uint64_t kStream = 0xd19ec7105;
}  // namespace

size_t NeighbourDirections::cells(size_t degree) {
  return std::bit_ceil(std::min(kCellsPerDegree * degree, size_t{1} << simd::kDirections));
}

NeighbourDirections::NeighbourDirections(const NeighbourSpace& space, size_t cells, uint64_t seed)
    : count_(static_cast<size_t>(std::countr_zero(cells))),
      directions_(count_ * space.dimension()),
      places_(space.count() * simd::kDirections) {
  base::Random random(seed, kStream);
  for (float& value : directions_) {
    value = static_cast<float>(random.normal());
  }
  for (size_t i = 0; i < count_; ++i) {  // so that no sum is above a vector's length
    simd::normalize(directions_.data() + i * space.dimension(), space.dimension());
  }
}

Result<void> NeighbourDirections::place(const NeighbourSpace& space,
                                        std::span<const uint32_t> nodes, double share,
                                        NeighbourWork& work) {
  const size_t dimension = space.dimension();
  return work.for_blocks(
      nodes.size(), kBlock, share, [&](size_t first, size_t last, size_t /*worker*/) {
        for (const uint32_t node : nodes.subspan(first, last - first)) {
          simd::dot_many(space.vector(node), directions_.data(), count_, dimension, dimension,
                         places_.data() + size_t{node} * simd::kDirections);
        }
      });
}

}  // namespace sibyl::index
