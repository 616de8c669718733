#include "simd/scan_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/scan_table.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

float greatest_magnitude(const float* values, size_t count) {
  const Floats d;
  auto most = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    most = hn::Max(most, hn::Abs(hn::LoadU(d, values + i)));
  }
  if (i < count) {
    most = hn::Max(most, hn::Abs(load_partial(d, values + i, count - i)));
  }
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

template <class T>
HWY_INLINE void round_all(const float* values, size_t count, float factor, T* out) {
  const Floats d;
  const hn::Rebind<T, Floats> narrow;
  const size_t lanes = hn::Lanes(d);
  const auto by = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto whole = hn::NearestInt(hn::Mul(hn::LoadU(d, values + i), by));
    hn::StoreU(hn::DemoteTo(narrow, whole), narrow, out + i);
  }
  for (; i < count; ++i) {
    constexpr auto kLeast = static_cast<float>(std::numeric_limits<T>::min());
    constexpr auto kMost = static_cast<float>(std::numeric_limits<T>::max());
    const float whole = std::nearbyint(values[i] * factor);
    // Not a number becomes the least, as in the vectors.
    out[i] = static_cast<T>(whole > kLeast ? std::min(whole, kMost) : kLeast);
  }
}

void round_to_shorts(const float* values, size_t count, float factor, int16_t* out) {
  round_all(values, count, factor, out);
}

void round_to_bytes(const float* values, size_t count, float factor, int8_t* out) {
  round_all(values, count, factor, out);
}

using Centroids = hn::CappedTag<float, 16>;

/// Products of one group's numbers with its centroids; the least and the greatest.
HWY_INLINE void multiply_group(const float* columns, size_t size, const float* numbers,
                               float* products, float& least, float& most) {
  const Centroids d;
  auto low = hn::Set(d, 3.4e38F);
  auto high = hn::Set(d, -3.4e38F);
  for (size_t j = 0; j < 16; j += hn::Lanes(d)) {
    auto sum = hn::Mul(hn::Set(d, numbers[0]), hn::LoadU(d, columns + j));
    for (size_t c = 1; c < size; ++c) {
      sum = hn::MulAdd(hn::Set(d, numbers[c]), hn::LoadU(d, columns + c * 16 + j), sum);
    }
    hn::StoreU(sum, d, products + j);
    low = hn::Min(low, sum);
    high = hn::Max(high, sum);
  }
  least = hn::GetLane(hn::MinOfLanes(d, low));
  most = hn::GetLane(hn::MaxOfLanes(d, high));
}

ScanTable make_scan_table(const ScanCentroids& centroids, const float* numbers, float* products,
                          uint8_t* entries) {
  const Centroids d;
  const hn::Rebind<uint8_t, Centroids> narrow;
  float least[kScanGroupsMax];
  ScanTable table{entries, centroids.groups, 0, 0};
  float range = 0;
  const float* columns = centroids.columns;
  for (size_t g = 0; g < centroids.groups; ++g) {
    const size_t size = centroids.sizes[g];
    float most = 0;
    multiply_group(columns, size, numbers, products + g * 16, least[g], most);
    table.offset += least[g];
    range = std::max(range, most - least[g]);
    columns += size * 16;
    numbers += size;
  }
  table.step = range / 255.0F;
  const auto factor = hn::Set(d, range > 0 ? 255.0F / range : 0.0F);
  for (size_t g = 0; g < centroids.groups; ++g) {
    const auto low = hn::Set(d, least[g]);
    for (size_t j = g * 16; j < (g + 1) * 16; j += hn::Lanes(d)) {
      const auto above = hn::Mul(hn::Sub(hn::LoadU(d, products + j), low), factor);
      hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(above)), narrow, entries + j);
    }
  }
  return table;
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(greatest_magnitude);
HWY_EXPORT(round_to_shorts);
HWY_EXPORT(round_to_bytes);
HWY_EXPORT(make_scan_table);

float greatest_magnitude(const float* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(greatest_magnitude)(values, count);
}

void round_to_shorts(const float* values, size_t count, float factor, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(round_to_shorts)(values, count, factor, out);
}

void round_to_bytes(const float* values, size_t count, float factor, int8_t* out) {
  HWY_DYNAMIC_DISPATCH(round_to_bytes)(values, count, factor, out);
}

ScanTable make_scan_table(const ScanCentroids& centroids, const float* numbers, float* products,
                          uint8_t* entries) {
  return HWY_DYNAMIC_DISPATCH(make_scan_table)(centroids, numbers, products, entries);
}

}  // namespace sibyl::simd
#endif
