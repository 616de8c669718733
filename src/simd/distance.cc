#include "simd/distance.h"

#include <algorithm>
#include <cmath>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/distance.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

struct Dot {
  static HWY_INLINE FloatVector step(FloatVector a, FloatVector b, FloatVector sum) {
    return hn::MulAdd(a, b, sum);
  }
};

struct SquaredL2 {
  static HWY_INLINE FloatVector step(FloatVector a, FloatVector b, FloatVector sum) {
    const auto difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, sum);
  }
};

// Rows taken together share the loads of the query. Each row has the same four sums in the same
// order however many rows there are, so its result is the same bits in every call.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr size_t kRowsTogether = 4;  // 32 registers
#else
constexpr size_t kRowsTogether = 2;  // 16 registers
#endif
constexpr size_t kSums = 4;

template <class Operation, size_t kRows>
HWY_INLINE void rows_step(FloatVector query, const float* rows, size_t stride, size_t sum,
                          FloatVector (&sums)[kRows][kSums]) {
  const Floats d;
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    sums[r][sum] = Operation::step(query, hn::LoadU(d, rows + r * stride), sums[r][sum]);
  }
}

template <class Operation, size_t kRows>
HWY_INLINE void rows_kernel(const float* query, const float* base, size_t stride, size_t dimension,
                            float* out) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  FloatVector sums[kRows][kSums];
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SIBYL_SIMD_UNROLL
    for (size_t s = 0; s < kSums; ++s) {
      sums[r][s] = hn::Zero(d);
    }
  }
  size_t i = 0;
  for (; i + kSums * lanes <= dimension; i += kSums * lanes) {
    SIBYL_SIMD_UNROLL
    for (size_t s = 0; s < kSums; ++s) {
      const size_t at = i + s * lanes;
      rows_step<Operation>(hn::LoadU(d, query + at), base + at, stride, s, sums);
    }
  }
  SIBYL_SIMD_UNROLL
  for (size_t s = 0; s + 1 < kSums; ++s) {
    if (i + lanes <= dimension) {
      rows_step<Operation>(hn::LoadU(d, query + i), base + i, stride, s, sums);
      i += lanes;
    }
  }
  if (i < dimension) {
    const auto part = load_partial(d, query + i, dimension - i);
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const auto row = load_partial(d, base + r * stride + i, dimension - i);
      sums[r][kSums - 1] = Operation::step(part, row, sums[r][kSums - 1]);
    }
  }
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    out[r] =
        sum_lanes(d, hn::Add(hn::Add(sums[r][0], sums[r][1]), hn::Add(sums[r][2], sums[r][3])));
  }
}

template <class Operation>
HWY_INLINE void many(const float* query, const float* base, size_t rows, size_t stride,
                     size_t dimension, float* out) {
  size_t r = 0;
  for (; r + kRowsTogether <= rows; r += kRowsTogether) {
    rows_kernel<Operation, kRowsTogether>(query, base + r * stride, stride, dimension, out + r);
  }
  for (; r < rows; ++r) {
    rows_kernel<Operation, 1>(query, base + r * stride, stride, dimension, out + r);
  }
}

void dot_many(const float* query, const float* base, size_t rows, size_t stride, size_t dimension,
              float* out) {
  many<Dot>(query, base, rows, stride, dimension, out);
}

void squared_l2_many(const float* query, const float* base, size_t rows, size_t stride,
                     size_t dimension, float* out) {
  many<SquaredL2>(query, base, rows, stride, dimension, out);
}

const char* name() {
  return hwy::TargetName(HWY_TARGET);
}

void scale(float* vector, size_t dimension, float factor) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const auto factors = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= dimension; i += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, vector + i), factors), d, vector + i);
  }
  for (; i < dimension; ++i) {
    vector[i] *= factor;
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(dot_many);
HWY_EXPORT(squared_l2_many);
HWY_EXPORT(scale);
HWY_EXPORT(name);

float dot(const float* a, const float* b, size_t dimension) {
  float out = 0;
  HWY_DYNAMIC_DISPATCH(dot_many)(a, b, 1, dimension, dimension, &out);
  return out;
}

float squared_l2(const float* a, const float* b, size_t dimension) {
  float out = 0;
  HWY_DYNAMIC_DISPATCH(squared_l2_many)(a, b, 1, dimension, dimension, &out);
  return out;
}

void dot_many(const float* query, const float* base, size_t rows, size_t stride, size_t dimension,
              float* out) {
  HWY_DYNAMIC_DISPATCH(dot_many)(query, base, rows, stride, dimension, out);
}

void squared_l2_many(const float* query, const float* base, size_t rows, size_t stride,
                     size_t dimension, float* out) {
  HWY_DYNAMIC_DISPATCH(squared_l2_many)(query, base, rows, stride, dimension, out);
}

namespace {
/// Largest magnitude; makes lengths safe whose squares overflow or vanish in float.
float largest(const float* vector, size_t dimension) {
  float most = 0;
  for (size_t i = 0; i < dimension; ++i) {
    most = std::max(most, std::fabs(vector[i]));
  }
  return most;
}
}  // namespace

float normalize(float* vector, size_t dimension) {
  const float squared = dot(vector, vector, dimension);
  if (squared > 1e-30f && squared < 1e30f) [[likely]] {
    const float length = std::sqrt(squared);
    HWY_DYNAMIC_DISPATCH(scale)(vector, dimension, 1 / length);
    return length;
  }
  const float most = largest(vector, dimension);
  if (most == 0 || !std::isfinite(most)) {
    return most;
  }
  for (size_t i = 0; i < dimension; ++i) {
    vector[i] /= most;
  }
  const float length = std::sqrt(dot(vector, vector, dimension));
  HWY_DYNAMIC_DISPATCH(scale)(vector, dimension, 1 / length);
  return length * most;
}

std::string_view kernel_name() {
  return HWY_DYNAMIC_DISPATCH(name)();
}

}  // namespace sibyl::simd
#endif
