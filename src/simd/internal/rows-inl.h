// Drivers of kernels that take some rows at a time, compiled once for each instruction set (hence
// the odd guard).
#if defined(SIBYL_SIMD_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SIBYL_SIMD_ROWS_INL_H
#undef SIBYL_SIMD_ROWS_INL_H
#else
#define SIBYL_SIMD_ROWS_INL_H
#endif

#include <algorithm>
#include <array>
#include <cstddef>

#include <hwy/highway.h>

#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

// Rows taken together share the loads of the query. A row's result does not depend on how many.
constexpr size_t kRowsShared = 4;

/// Kernel::run<kRows>(query, rows, dimension, out) with rows as an array of pointers.
template <class Kernel, class Query, class Element, class Out>
HWY_INLINE void gather_rows(const Query* query, const Element* const* rows, size_t count,
                            size_t dimension, Out* out) {
  size_t r = 0;
  for (; r + kRowsShared <= count; r += kRowsShared) {
    Kernel::template run<kRowsShared>(query, rows + r, dimension, out + r);
  }
  for (; r < count; ++r) {
    Kernel::template run<1>(query, rows + r, dimension, out + r);
  }
}

template <class Kernel, class Query, class Element, class Out>
HWY_INLINE void many_rows(const Query* query, const Element* base, size_t rows, size_t stride,
                          size_t dimension, Out* out) {
  std::array<const Element*, kRowsShared> pointers{};
  for (size_t r = 0; r < rows; r += kRowsShared) {
    const size_t count = std::min(kRowsShared, rows - r);
    for (size_t i = 0; i < count; ++i) {
      pointers[i] = base + (r + i) * stride;
    }
    gather_rows<Kernel>(query, pointers.data(), count, dimension, out + r);
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
