#include "simd/hadamard.h"

#include <bit>
#include <cmath>

#include "base/check.h"
#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/hadamard.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

/// (a + b, a - b) of two runs, times a factor.
HWY_INLINE void butterfly(float* a, float* b, size_t count, float factor) {
  const Floats d;
  const auto factors = hn::Set(d, factor);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, a + i);
    const auto y = hn::LoadU(d, b + i);
    hn::StoreU(hn::Mul(hn::Add(x, y), factors), d, a + i);
    hn::StoreU(hn::Mul(hn::Sub(x, y), factors), d, b + i);
  }
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE FloatVector short_steps(FloatVector v) {
  return v;
}
#else

/// Number i becomes v[i] + v[i + width] or v[i - width] - v[i]; `swapped` is v with these partners
/// exchanged, `second` is set where i is the second of its pair.
HWY_INLINE FloatVector pairs(FloatVector v, FloatVector swapped, size_t width) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const auto bit = hn::And(hn::Iota(du, 0), hn::Set(du, static_cast<uint32_t>(width)));
  const auto second = hn::RebindMask(d, hn::Ne(bit, hn::Zero(du)));
  return hn::Add(swapped, hn::IfThenElse(second, hn::Neg(v), v));
}

/// The steps inside one register.
HWY_INLINE FloatVector short_steps(FloatVector v) {
  [[maybe_unused]] const Floats d;  // not where registers hold 16 bytes
#if HWY_MAX_BYTES == 64
  v = pairs(v, hn::ConcatLowerUpper(d, v, v), 8);
  const auto reversed = hn::ReverseBlocks(d, v);
  v = pairs(v, hn::ConcatLowerUpper(d, reversed, reversed), 4);
#elif HWY_MAX_BYTES == 32
  v = pairs(v, hn::ConcatLowerUpper(d, v, v), 4);
#endif
  v = pairs(v, hn::Shuffle1032(v), 2);
  return pairs(v, hn::Shuffle2301(v), 1);
}

#endif

/// Two steps at once: half of the loads and stores.
HWY_INLINE void two_steps(float* v, size_t width) {
  const Floats d;
  for (size_t i = 0; i < width; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, v + i);
    const auto b = hn::LoadU(d, v + width + i);
    const auto c = hn::LoadU(d, v + 2 * width + i);
    const auto e = hn::LoadU(d, v + 3 * width + i);
    const auto sum_ab = hn::Add(a, b);
    const auto difference_ab = hn::Sub(a, b);
    const auto sum_ce = hn::Add(c, e);
    const auto difference_ce = hn::Sub(c, e);
    hn::StoreU(hn::Add(sum_ab, sum_ce), d, v + i);
    hn::StoreU(hn::Add(difference_ab, difference_ce), d, v + width + i);
    hn::StoreU(hn::Sub(sum_ab, sum_ce), d, v + 2 * width + i);
    hn::StoreU(hn::Sub(difference_ab, difference_ce), d, v + 3 * width + i);
  }
}

/// Walsh-Hadamard transform of `size` numbers, a power of two of at least 64, times `scale`.
void transform(float* v, size_t size, float scale) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  size_t width = size / 4;
  for (; width >= 16; width /= 4) {
    for (size_t at = 0; at < size; at += 4 * width) {
      two_steps(v + at, width);
    }
  }
  for (width *= 2; width >= lanes; width /= 2) {
    for (size_t at = 0; at < size; at += 2 * width) {
      butterfly(v + at, v + at + width, width, 1.0F);
    }
  }
  const auto factor = hn::Set(d, scale);
  for (size_t i = 0; i < size; i += lanes) {
    hn::StoreU(hn::Mul(short_steps(hn::LoadU(d, v + i)), factor), d, v + i);
  }
}

/// Negates where the bit is set.
HWY_INLINE void flip_signs(float* v, size_t dimension, const uint64_t* signs) {
  const Floats d;
  for (size_t i = 0; i < dimension; i += hn::Lanes(d)) {
    const uint64_t bits = signs[i / 64] >> (i % 64);
    const auto flipped = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&bits));
    const auto x = hn::LoadU(d, v + i);
    hn::StoreU(hn::IfThenElse(flipped, hn::Neg(x), x), d, v + i);
  }
}

void rotate(float* v, size_t dimension, size_t power, const uint64_t* signs) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(power));
  for (size_t round = 0; round < Rotation::kRounds; ++round) {
    flip_signs(v, dimension, signs + round * (dimension / 64));
    transform(round % 2 == 0 ? v : v + dimension - power, power, scale);
    if (power != dimension) {
      butterfly(v, v + dimension / 2, dimension / 2, 0.70710678118F);
    }
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(rotate);

Rotation::Rotation(size_t dimension, std::span<const uint64_t> signs)
    : dimension_(dimension), power_(std::bit_floor(dimension)), signs_(signs) {
  base::check(dimension > 0 && dimension % 64 == 0, "a rotation's dimension is a multiple of 64");
  base::check(signs.size() == sign_words(dimension), "a rotation has signs for every coordinate");
}

void Rotation::apply(float* vector) const {
  HWY_DYNAMIC_DISPATCH(rotate)(vector, dimension_, power_, signs_.data());
}

}  // namespace sibyl::simd
#endif
