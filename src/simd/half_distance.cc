#include <algorithm>
#include <array>
#include <cstring>

#include "simd/code_distance.h"
#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/half_distance.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || \
    HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR

/// Without an instruction, and Highway's own way there knows neither denormals nor infinity: the
/// bits are moved to their place as a float and the exponent is put right by a product.
HWY_INLINE FloatVector load_halves(Floats d, const uint16_t* from) {
  const hn::RebindToUnsigned<Floats> du;
  const hn::RebindToSigned<Floats> di;
  const hn::Rebind<uint16_t, Floats> bits;
  const auto wide = hn::BitCast(du, hn::PromoteTo(di, hn::LoadU(bits, from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(du, 0x8000U)));
  const auto size = hn::ShiftLeft<13>(hn::And(wide, hn::Set(du, 0x7FFFU)));
  const auto finite =
      hn::BitCast(du, hn::Mul(hn::BitCast(d, size), hn::Set(d, 5.192296858534828e33F)));  // 2^112
  const auto special = hn::Or(size, hn::Set(du, 0x7F800000U));
  const auto is_special = hn::Gt(hn::BitCast(di, size), hn::Set(di, 0x0F7FFFFF));
  const auto value = hn::IfThenElse(hn::RebindMask(du, is_special), special, finite);
  return hn::BitCast(d, hn::Or(value, sign));
}

#else

HWY_INLINE FloatVector load_halves(Floats d, const uint16_t* from) {
  const hn::Rebind<hwy::float16_t, Floats> half;
  const hn::Rebind<uint16_t, Floats> bits;
  return hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(bits, from)));
}

#endif

HWY_INLINE FloatVector load_halves_partial(Floats d, const uint16_t* from, size_t count) {
  HWY_ALIGN uint16_t buffer[hn::MaxLanes(Floats())] = {};
  std::memcpy(buffer, from, count * sizeof(uint16_t));
  return load_halves(d, buffer);
}

struct HalfDot {
  static HWY_INLINE FloatVector step(FloatVector query, FloatVector row, FloatVector sum) {
    return hn::MulAdd(query, row, sum);
  }
};

struct HalfSquaredL2 {
  static HWY_INLINE FloatVector step(FloatVector query, FloatVector row, FloatVector sum) {
    const auto difference = hn::Sub(query, row);
    return hn::MulAdd(difference, difference, sum);
  }
};

/// Two sums a row, in one order for any number of rows.
template <class Operation>
struct HalfKernel {
  template <size_t kRows>
  static HWY_INLINE void run(const float* query, const uint16_t* const* rows, size_t dimension,
                             float* out) {
    const Floats d;
    const size_t lanes = hn::Lanes(d);
    FloatVector even[kRows];
    FloatVector odd[kRows];
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      even[r] = hn::Zero(d);
      odd[r] = hn::Zero(d);
    }
    size_t i = 0;
    for (; i + 2 * lanes <= dimension; i += 2 * lanes) {
      const auto first = hn::LoadU(d, query + i);
      const auto second = hn::LoadU(d, query + i + lanes);
      SIBYL_SIMD_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        even[r] = Operation::step(first, load_halves(d, rows[r] + i), even[r]);
        odd[r] = Operation::step(second, load_halves(d, rows[r] + i + lanes), odd[r]);
      }
    }
    for (; i < dimension; i += lanes) {
      const size_t rest = std::min(lanes, dimension - i);
      const auto part = rest == lanes ? hn::LoadU(d, query + i) : load_partial(d, query + i, rest);
      SIBYL_SIMD_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        even[r] = Operation::step(part, load_halves_partial(d, rows[r] + i, rest), even[r]);
      }
    }
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      out[r] = sum_lanes(d, hn::Add(even[r], odd[r]));
    }
  }
};

void half_dot_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                   size_t dimension, float* out) {
  many_rows<HalfKernel<HalfDot>>(query, base, rows, stride, dimension, out);
}

void half_squared_l2_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                          size_t dimension, float* out) {
  many_rows<HalfKernel<HalfSquaredL2>>(query, base, rows, stride, dimension, out);
}

void half_square_many(const uint16_t* base, size_t rows, size_t stride, size_t dimension,
                      float* out) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows; ++r) {
    const uint16_t* row = base + r * stride;
    auto sum = hn::Zero(d);
    for (size_t i = 0; i < dimension; i += lanes) {
      const auto values = i + lanes <= dimension ? load_halves(d, row + i)
                                                 : load_halves_partial(d, row + i, dimension - i);
      sum = hn::MulAdd(values, values, sum);
    }
    out[r] = sum_lanes(d, sum);
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(half_dot_many);
HWY_EXPORT(half_squared_l2_many);
HWY_EXPORT(half_square_many);

void half_dot_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                   size_t dimension, float* out) {
  HWY_DYNAMIC_DISPATCH(half_dot_many)(query, base, rows, stride, dimension, out);
}

void half_squared_l2_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                          size_t dimension, float* out) {
  HWY_DYNAMIC_DISPATCH(half_squared_l2_many)(query, base, rows, stride, dimension, out);
}

void half_square_many(const uint16_t* base, size_t rows, size_t stride, size_t dimension,
                      float* out) {
  HWY_DYNAMIC_DISPATCH(half_square_many)(base, rows, stride, dimension, out);
}

}  // namespace sibyl::simd
#endif
