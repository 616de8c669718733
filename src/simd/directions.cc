#include "simd/directions.h"

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/directions.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

uint8_t code_of(const float* origin, const float* other) {
  unsigned code = 0;
  for (size_t b = 0; b < kDirections; ++b) {
    code |= (other[b] > origin[b] ? 1U : 0U) << b;
  }
  return static_cast<uint8_t>(code);
}

void direction_codes(const float* origin, const float* others, size_t count, uint8_t* codes) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 2 * kDirections> d;
  constexpr size_t kLanes = hn::MaxLanes(hn::CappedTag<float, 2 * kDirections>());
  uint8_t bits[8] = {};
  if constexpr (kLanes >= kDirections) {
    constexpr size_t kPoints = kLanes / kDirections;
    float repeated[kLanes];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      repeated[lane] = origin[lane % kDirections];
    }
    const auto here = hn::LoadU(d, repeated);
    for (; i + kPoints <= count; i += kPoints) {
      const auto there = hn::LoadU(d, others + i * kDirections);
      hn::StoreMaskBits(d, hn::Gt(there, here), bits);
      for (size_t point = 0; point < kPoints; ++point) {
        codes[i + point] = bits[point];
      }
    }
  } else {
    const auto low = hn::LoadU(d, origin);
    const auto high = hn::LoadU(d, origin + kLanes);
    static_assert(2 * kLanes >= kDirections);
    for (; i < count; ++i) {
      const float* other = others + i * kDirections;
      hn::StoreMaskBits(d, hn::Gt(hn::LoadU(d, other), low), bits);
      const unsigned lower = bits[0];
      hn::StoreMaskBits(d, hn::Gt(hn::LoadU(d, other + kLanes), high), bits);
      codes[i] = static_cast<uint8_t>(lower | unsigned{bits[0]} << kLanes);
    }
  }
#endif
  for (; i < count; ++i) {
    codes[i] = code_of(origin, others + i * kDirections);
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(direction_codes);

void direction_codes(const float* origin, const float* others, size_t count, uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(direction_codes)(origin, others, count, codes);
}

}  // namespace sibyl::simd
#endif
