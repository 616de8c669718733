#include "index/internal/neighbour_duplicates.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sibyl::index {
namespace {

/// Of the vector's bits, 0 and -0 alike. Equal vectors have equal sums; the rest is compared.
uint64_t fingerprint(const float* vector, size_t dimension) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t sum = dimension;
  for (size_t i = 0; i < dimension; ++i) {
    const float value = vector[i] + 0.0F;
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    sum = (sum ^ bits) * kFactor;
    sum ^= sum >> 29U;
  }
  return sum;
}

}  // namespace

NeighbourDuplicates find_duplicates(const NeighbourSpace& space) {
  std::vector<std::pair<uint64_t, uint32_t>> order;
  order.reserve(space.count());
  for (uint32_t node = 0; node < space.count(); ++node) {
    order.emplace_back(fingerprint(space.vector(node), space.dimension()), node);
  }
  std::sort(order.begin(), order.end());
  NeighbourDuplicates found;
  found.class_first.push_back(0);
  const auto equal = [&](uint32_t a, uint32_t b) {
    return std::equal(space.vector(a), space.vector(a) + space.dimension(), space.vector(b));
  };
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && order[end].first == order[i].first &&
           equal(order[end].second, order[i].second)) {
      ++end;
    }
    found.distinct.push_back(order[i].second);
    if (end - i > 1) {
      for (size_t j = i; j < end; ++j) {
        found.repeated.push_back(order[j].second);
      }
      found.class_first.push_back(found.repeated.size());
    }
    i = end;
  }
  std::sort(found.distinct.begin(), found.distinct.end());
  return found;
}

}  // namespace sibyl::index
