#include "index/internal/code_space.h"

#include <algorithm>
#include <cmath>

#include "simd/distance.h"

namespace sibyl::index {
namespace {

/// Numbers whose squares would overflow or vanish are brought near 1; their direction stays.
void scale_extreme(std::vector<float>& numbers) {
  float most = 0;
  for (const float number : numbers) {
    most = std::max(most, std::fabs(number));
  }
  if (most > 0 && std::isfinite(most) && !(most > 1e-12F && most < 1e12F)) {
    for (float& number : numbers) {
      number /= most;
    }
  }
}

}  // namespace

bool CodeQuery::prepare(const CodeSpace& space, std::span<const float> query) {
  dimension_ = space.dimension();
  numbers_.assign(query.begin(), query.end());
  if (space.metric == Metric::kSquaredL2) {
    for (size_t i = 0; i < dimension_; ++i) {
      numbers_[i] = (numbers_[i] - space.mean[i]) / space.unit;
    }
  } else {
    scale_extreme(numbers_);
    simd::normalize(numbers_.data(), dimension_);
  }
  const float squared = simd::dot(numbers_.data(), numbers_.data(), dimension_);
  if (!(squared < 1e12F)) {
    return false;
  }
  const bool l2 = space.metric == Metric::kSquaredL2;
  constant_ = l2 ? squared : 0.0F;
  length_share_ = l2 ? 1.0F : 0.0F;
  product_share_ = l2 ? -2.0F : -1.0F;
  // sqrt(1/12) of a step a number, in two codes.
  deviation_share_ = (l2 ? 2.0F : 1.0F) * std::sqrt(squared / 6.0F);
  make_wide();
  make_table(space);
  return true;
}

void CodeQuery::make_wide() {
  const size_t room = (dimension_ + simd::kWideDotStep - 1) / simd::kWideDotStep;
  wide_.assign(room * simd::kWideDotStep, 0);
  float most = 0;
  float sum = 0;
  for (const float number : numbers_) {
    most = std::max(most, std::fabs(number));
    sum += std::fabs(number);
  }
  if (most <= 0) {
    return;
  }
  // Rounding may add half a unit a number: that stays below 2^24 - 2^14.
  const float factor = std::min(32767.0F / most, 16700000.0F / sum);
  for (size_t i = 0; i < dimension_; ++i) {
    wide_[i] = static_cast<int16_t>(std::lrint(numbers_[i] * factor));
  }
  product_share_ /= factor;
}

void CodeQuery::make_table(const CodeSpace& space) {
  const size_t groups = space.groups();
  table_ = {};
  if (groups == 0) {
    return;
  }
  head_.resize(space.head());
  simd::dot_many(numbers_.data(), space.axes.data(), space.head(), dimension_, dimension_,
                 head_.data());
  products_.resize(groups * 16);
  const float* centroid = space.centroids.data();
  const float* numbers = head_.data();
  float range = 0;
  for (size_t g = 0; g < groups; ++g) {
    const size_t size = space.group_size[g];
    float* products = products_.data() + g * 16;
    float least = 3.4e38F;
    float most = -3.4e38F;
    for (size_t j = 0; j < 16; ++j) {
      float sum = 0;
      for (size_t c = 0; c < size; ++c) {
        sum += numbers[c] * *centroid++;
      }
      products[j] = sum;
      least = std::min(least, sum);
      most = std::max(most, sum);
    }
    for (size_t j = 0; j < 16; ++j) {
      products[j] -= least;
    }
    table_.offset += least;
    range = std::max(range, most - least);
    numbers += size;
  }
  const size_t rounded =
      (groups + simd::kScanGroupsStep - 1) / simd::kScanGroupsStep * simd::kScanGroupsStep * 16;
  entries_.assign(rounded + 63, 0);
  const size_t shift = (64 - reinterpret_cast<uintptr_t>(entries_.data()) % 64) % 64;
  uint8_t* entries = entries_.data() + shift;
  table_.entries = entries;
  table_.groups = groups;
  table_.step = range / 255.0F;
  const float factor = range > 0 ? 255.0F / range : 0.0F;
  for (size_t i = 0; i < groups * 16; ++i) {
    const float entry = products_[i] * factor + 0.5F;
    entries[i] = entry < 255.0F ? static_cast<uint8_t>(std::max(entry, 0.0F)) : 255;
  }
}

}  // namespace sibyl::index
