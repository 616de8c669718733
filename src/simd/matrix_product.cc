#include <algorithm>

#include "simd/internal/targets.h"
#include "simd/neural.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/matrix_product.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr size_t kRowsTogether = 4;
#else
constexpr size_t kRowsTogether = 2;
#endif
constexpr size_t kColumnsTogether = 4;
constexpr size_t kColumnsOfOneRow = 8;

struct Product {
  const float* a;
  size_t a_stride;
  const float* b;
  size_t b_stride;
  size_t k;
  float* c;
  size_t c_stride;
};

/// One block of C. Each value has one vector sum over k in order, then one sum over its lanes, so
/// it does not depend on the block that it is computed in.
template <size_t kRows, size_t kColumns>
HWY_INLINE void block(const Product& p, size_t i, size_t j) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const float* a = p.a + i * p.a_stride;
  const float* b = p.b + j * p.b_stride;
  FloatVector sums[kRows][kColumns];
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SIBYL_SIMD_UNROLL
    for (size_t s = 0; s < kColumns; ++s) {
      sums[r][s] = hn::Zero(d);
    }
  }
  size_t at = 0;
  for (; at + lanes <= p.k; at += lanes) {
    FloatVector left[kRows];
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      left[r] = hn::LoadU(d, a + r * p.a_stride + at);
    }
    SIBYL_SIMD_UNROLL
    for (size_t s = 0; s < kColumns; ++s) {
      const auto right = hn::LoadU(d, b + s * p.b_stride + at);
      SIBYL_SIMD_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        sums[r][s] = hn::MulAdd(left[r], right, sums[r][s]);
      }
    }
  }
  if (at < p.k) {
    SIBYL_SIMD_UNROLL
    for (size_t s = 0; s < kColumns; ++s) {
      const auto right = load_partial(d, b + s * p.b_stride + at, p.k - at);
      SIBYL_SIMD_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const auto left = load_partial(d, a + r * p.a_stride + at, p.k - at);
        sums[r][s] = hn::MulAdd(left, right, sums[r][s]);
      }
    }
  }
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SIBYL_SIMD_UNROLL
    for (size_t s = 0; s < kColumns; ++s) {
      p.c[(i + r) * p.c_stride + j + s] = sum_lanes(d, sums[r][s]);
    }
  }
}

template <size_t kRows, size_t kColumns>
HWY_INLINE void row_band(const Product& p, size_t i, size_t n) {
  size_t j = 0;
  for (; j + kColumns <= n; j += kColumns) {
    block<kRows, kColumns>(p, i, j);
  }
  for (; j < n; ++j) {
    block<kRows, 1>(p, i, j);
  }
}

void matrix_product_transposed(const float* a, size_t m, size_t a_stride, const float* b, size_t n,
                               size_t b_stride, size_t k, float* c, size_t c_stride) {
  const Product product{a, a_stride, b, b_stride, k, c, c_stride};
  size_t i = 0;
  for (; i + kRowsTogether <= m; i += kRowsTogether) {
    row_band<kRowsTogether, kColumnsTogether>(product, i, n);
  }
  for (; i < m; ++i) {
    row_band<1, kColumnsOfOneRow>(product, i, n);
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(matrix_product_transposed);

void matrix_product_transposed(const float* a, size_t m, size_t a_stride, const float* b, size_t n,
                               size_t b_stride, size_t k, float* c, size_t c_stride) {
  HWY_DYNAMIC_DISPATCH(matrix_product_transposed)
  (a, m, a_stride, b, n, b_stride, k, c, c_stride);
}

}  // namespace sibyl::simd
#endif
