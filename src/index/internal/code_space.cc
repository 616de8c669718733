#include "index/internal/code_space.h"

#include <algorithm>
#include <cmath>

#include "simd/code_distance.h"
#include "simd/distance.h"

namespace sibyl::index {
namespace {

/// Numbers whose steps are not above count as zeros: a step's reciprocal would overflow.
constexpr float kStepLeast = 1e-37F;

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

void CodeSpace::prepare_queries() {
  byte_axes.assign(axes.size(), 0);
  axis_steps.assign(head(), 0.0F);
  for (size_t i = 0; i < head(); ++i) {
    const float* axis = axes.data() + i * dimension();
    const float step = simd::greatest_magnitude(axis, dimension()) / 127.0F;
    if (step > kStepLeast) {
      axis_steps[i] = step;
      simd::round_to_bytes(axis, dimension(), 1.0F / step, byte_axes.data() + i * dimension());
    }
  }
  columns.resize(centroids.size());
  size_t first = 0;
  for (const size_t size : group_size) {
    for (size_t c = 0; c < size; ++c) {
      for (size_t j = 0; j < 16; ++j) {
        columns[(first + c) * 16 + j] = centroids[first * 16 + j * size + c];
      }
    }
    first += size;
  }
}

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
  most_ = simd::greatest_magnitude(numbers_.data(), dimension_);
  make_wide(squared);
  make_table(space);
  return true;
}

void CodeQuery::make_wide(float squared) {
  const size_t room = (dimension_ + simd::kWideDotStep - 1) / simd::kWideDotStep;
  wide_.assign(room * simd::kWideDotStep, 0);
  if (!(squared > 0)) {  // so near zero that its products are
    return;
  }
  // The magnitudes' sum is at most the root of their number times the length. Rounding may add half
  // a unit a number: that stays below 2^24 - 2^14.
  const float sum_most = std::sqrt(static_cast<float>(dimension_) * squared) * 1.0001F;
  const float factor = std::min(32767.0F / most_, 16700000.0F / sum_most);
  simd::round_to_shorts(numbers_.data(), dimension_, factor, wide_.data());
  product_share_ /= factor;
}

/// The query's numbers along the axes come from bytes of both: that is off by about a hundredth,
/// where the codes of the neighbours' directions are off by a third.
void CodeQuery::make_table(const CodeSpace& space) {
  const size_t groups = space.groups();
  table_ = {};
  if (groups == 0) {
    return;
  }
  bytes_.assign(dimension_, 0);
  const float step = most_ / 127.0F;
  if (step > kStepLeast) {
    simd::round_to_bytes(numbers_.data(), dimension_, 1.0F / step, bytes_.data());
  }
  byte_head_.resize(space.head());
  simd::byte_dot_many(bytes_.data(), space.byte_axes.data(), space.head(), dimension_, dimension_,
                      byte_head_.data());
  head_.resize(space.head());
  for (size_t i = 0; i < head_.size(); ++i) {
    head_[i] = static_cast<float>(byte_head_[i]) * (space.axis_steps[i] * step);
  }
  products_.resize(groups * 16);
  const size_t rounded =
      (groups + simd::kScanGroupsStep - 1) / simd::kScanGroupsStep * simd::kScanGroupsStep * 16;
  entries_.assign(rounded + 63, 0);
  const size_t shift = (64 - reinterpret_cast<uintptr_t>(entries_.data()) % 64) % 64;
  table_ = simd::make_scan_table({space.columns.data(), space.group_size.data(), groups},
                                 head_.data(), products_.data(), entries_.data() + shift);
}

}  // namespace sibyl::index
