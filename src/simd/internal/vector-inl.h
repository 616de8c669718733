// Helpers of the kernels, compiled once for each instruction set (hence the odd guard).
#if defined(SIBYL_SIMD_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SIBYL_SIMD_VECTOR_INL_H
#undef SIBYL_SIMD_VECTOR_INL_H
#else
#define SIBYL_SIMD_VECTOR_INL_H
#endif

#include <cstddef>

#include <hwy/highway.h>

// Highway's own macro is about 8-bit lanes; masked float loads are safe from AVX2 on.
#undef SIBYL_SIMD_MASKED
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define SIBYL_SIMD_MASKED 1
#else
#define SIBYL_SIMD_MASKED 0
#endif

// At -O2 g++ leaves loops over an array of sums rolled, and then the sums lie in memory.
#undef SIBYL_SIMD_UNROLL
#if HWY_COMPILER_CLANG
#define SIBYL_SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIBYL_SIMD_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using FloatVector = hn::Vec<Floats>;

/// The first `count` floats at `from` (count < lanes), zeros after them; reads nothing beyond.
HWY_INLINE FloatVector load_partial(Floats d, const float* from, size_t count) {
#if SIBYL_SIMD_MASKED
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN float buffer[hn::MaxLanes(Floats())] = {};
  for (size_t i = 0; i < count; ++i) {
    buffer[i] = from[i];
  }
  return hn::Load(d, buffer);
#endif
}

HWY_INLINE void store_partial(Floats d, FloatVector value, float* to, size_t count) {
#if SIBYL_SIMD_MASKED
  hn::BlendedStore(value, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float buffer[hn::MaxLanes(Floats())];
  hn::Store(value, d, buffer);
  for (size_t i = 0; i < count; ++i) {
    to[i] = buffer[i];
  }
#endif
}

HWY_INLINE float sum_lanes(Floats d, FloatVector v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// e^x for x <= 0 to about 1 unit in the last place; 0 below -87.3, NaN stays NaN.
HWY_INLINE FloatVector exp_not_positive(Floats d, FloatVector x) {
  const hn::RebindToSigned<Floats> di;
  const auto lowest = hn::Set(d, -87.33654f);
  const auto clamped = hn::Max(x, lowest);
  // x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts so that r keeps its bits.
  const auto n = hn::Round(hn::Mul(clamped, hn::Set(d, 1.44269504088896341f)));
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), clamped);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  auto p = hn::Set(d, 1.9875691500e-4f);
  p = hn::MulAdd(p, r, hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1f));
  p = hn::MulAdd(p, hn::Mul(r, r), hn::Add(r, hn::Set(d, 1.0f)));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::NearestInt(n), hn::Set(di, 127)));
  const auto value = hn::Mul(p, hn::BitCast(d, exponent));
  const auto result = hn::IfThenZeroElse(hn::Lt(x, lowest), value);
  return hn::IfThenElse(hn::Ne(x, x), x, result);
}

/// Softmax of scale * row in place; the order of its sums depends on `columns` alone.
HWY_INLINE void softmax_row(float* row, size_t columns, float scale) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const size_t whole = columns / lanes * lanes;
  const auto factor = hn::Set(d, scale);
  const auto minus_infinity = hn::Neg(hn::Inf(d));
  auto most = minus_infinity;
  for (size_t i = 0; i < whole; i += lanes) {
    const auto value = hn::Mul(hn::LoadU(d, row + i), factor);
    hn::StoreU(value, d, row + i);
    most = hn::Max(most, value);
  }
  float top = hn::GetLane(hn::MaxOfLanes(d, most));
  for (size_t i = whole; i < columns; ++i) {
    row[i] *= scale;
    top = row[i] > top ? row[i] : top;
  }
  const auto tops = hn::Set(d, top);
  auto sum = hn::Zero(d);
  for (size_t i = 0; i < whole; i += lanes) {
    const auto value = exp_not_positive(d, hn::Sub(hn::LoadU(d, row + i), tops));
    hn::StoreU(value, d, row + i);
    sum = hn::Add(sum, value);
  }
  const size_t rest = columns - whole;
  if (rest > 0) {
    const auto value = exp_not_positive(d, hn::Sub(load_partial(d, row + whole, rest), tops));
    const auto kept = hn::IfThenElseZero(hn::FirstN(d, rest), value);
    store_partial(d, kept, row + whole, rest);
    sum = hn::Add(sum, kept);
  }
  const float inverse = 1.0f / sum_lanes(d, sum);
  const auto inverses = hn::Set(d, inverse);
  for (size_t i = 0; i < whole; i += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), inverses), d, row + i);
  }
  for (size_t i = whole; i < columns; ++i) {
    row[i] *= inverse;
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
