#include <algorithm>

#include "simd/internal/targets.h"
#include "simd/neural.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/embedding_sum.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

HWY_INLINE FloatVector load_as_float(const float* from) {
  return hn::LoadU(Floats(), from);
}

HWY_INLINE FloatVector load_as_float(const hwy::float16_t* from) {
  const Floats d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, Floats>(), from));
}

HWY_INLINE FloatVector load_as_float(const int8_t* from) {
  const Floats d;
  const hn::Rebind<int32_t, Floats> integers;
  const auto bytes = hn::LoadU(hn::Rebind<int8_t, Floats>(), from);
  return hn::ConvertTo(d, hn::PromoteTo(integers, bytes));
}

template <class T>
HWY_INLINE void add_row(float* sum, const T* row, float weight, size_t dimension) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const auto weights = hn::Set(d, weight);
  size_t i = 0;
  for (; i + lanes <= dimension; i += lanes) {
    const auto value = hn::MulAdd(weights, load_as_float(row + i), hn::LoadU(d, sum + i));
    hn::StoreU(value, d, sum + i);
  }
  if (i < dimension) {
    const size_t rest = dimension - i;
    HWY_ALIGN T buffer[hn::MaxLanes(Floats())] = {};
    std::copy(row + i, row + dimension, buffer);
    const auto value = hn::MulAdd(weights, load_as_float(buffer), load_partial(d, sum + i, rest));
    store_partial(d, value, sum + i, rest);
  }
}

void add_scaled(float* sum, const float* row, float weight, size_t dimension) {
  add_row(sum, row, weight, dimension);
}

void add_scaled_f16(float* sum, const uint16_t* row, float weight, size_t dimension) {
  add_row(sum, reinterpret_cast<const hwy::float16_t*>(row), weight, dimension);
}

void add_scaled_i8(float* sum, const int8_t* row, float weight, size_t dimension) {
  add_row(sum, row, weight, dimension);
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(add_scaled);
HWY_EXPORT(add_scaled_f16);
HWY_EXPORT(add_scaled_i8);

void add_scaled(float* sum, const float* row, float weight, size_t dimension) {
  HWY_DYNAMIC_DISPATCH(add_scaled)(sum, row, weight, dimension);
}

void add_scaled_f16(float* sum, const uint16_t* row, float weight, size_t dimension) {
  HWY_DYNAMIC_DISPATCH(add_scaled_f16)(sum, row, weight, dimension);
}

void add_scaled_i8(float* sum, const int8_t* row, float weight, size_t dimension) {
  HWY_DYNAMIC_DISPATCH(add_scaled_i8)(sum, row, weight, dimension);
}

}  // namespace sibyl::simd
#endif
