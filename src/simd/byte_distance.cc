#include <cstring>

#include "simd/code_distance.h"
#include "simd/internal/extensions.h"
#include "simd/internal/targets.h"
#include "simd/internal/vnni.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/byte_distance.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

struct ByteDot {
  template <size_t kRows>
  static void run(const int8_t* query, const int8_t* const* rows, size_t dimension, int32_t* out) {
    for (size_t r = 0; r < kRows; ++r) {
      int32_t sum = 0;
      for (size_t i = 0; i < dimension; ++i) {
        sum += int32_t{query[i]} * rows[r][i];
      }
      out[r] = sum;
    }
  }
};

#else

using Shorts = hn::ScalableTag<int16_t>;
using Words = hn::ScalableTag<int32_t>;
using HalfBytes = hn::Rebind<int8_t, Shorts>;

/// Bytes widened to 16 bits, products added in pairs: exact for all values.
struct ByteDot {
  template <size_t kRows>
  static HWY_INLINE void step(const int8_t* query, const int8_t* const* rows, size_t at,
                              hn::Vec<Words> (&even)[kRows], hn::Vec<Words> (&odd)[kRows]) {
    const Shorts d;
    const auto q = hn::PromoteTo(d, hn::LoadU(HalfBytes(), query));
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const auto row = hn::PromoteTo(d, hn::LoadU(HalfBytes(), rows[r] + at));
      even[r] = hn::ReorderWidenMulAccumulate(Words(), q, row, even[r], odd[r]);
    }
  }

  template <size_t kRows>
  static HWY_INLINE void run(const int8_t* query, const int8_t* const* rows, size_t dimension,
                             int32_t* out) {
    const Words d;
    constexpr size_t kStep = HWY_MAX_BYTES / 2;
    hn::Vec<Words> even[kRows];
    hn::Vec<Words> odd[kRows];
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      even[r] = hn::Zero(d);
      odd[r] = hn::Zero(d);
    }
    size_t i = 0;
    for (; i + kStep <= dimension; i += kStep) {
      step<kRows>(query + i, rows, i, even, odd);
    }
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      out[r] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even[r], odd[r])));
    }
    for (; i < dimension; ++i) {
      for (size_t r = 0; r < kRows; ++r) {
        out[r] += int32_t{query[i]} * rows[r][i];
      }
    }
  }
};

#endif

struct ByteSquare {
  template <size_t kRows>
  static HWY_INLINE void run(const int8_t*, const int8_t* const* rows, size_t dimension,
                             int32_t* out) {
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      ByteDot::run<1>(rows[r], rows + r, dimension, out + r);
    }
  }
};

void byte_dot_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                   size_t dimension, int32_t* out) {
  many_rows<ByteDot>(query, base, rows, stride, dimension, out);
}

void byte_dot_gather(const int8_t* query, const int8_t* const* rows, size_t count, size_t dimension,
                     int32_t* out) {
  gather_rows<ByteDot>(query, rows, count, dimension, out);
}

void byte_square_many(const int8_t* base, size_t rows, size_t stride, size_t dimension,
                      int32_t* out) {
  many_rows<ByteSquare>(base, base, rows, stride, dimension, out);
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(byte_dot_many);
HWY_EXPORT(byte_dot_gather);
HWY_EXPORT(byte_square_many);

void byte_dot_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                   size_t dimension, int32_t* out) {
  if (extensions().vnni) {
    vnni::byte_dot_many(query, base, rows, stride, dimension, out);
  } else {
    HWY_DYNAMIC_DISPATCH(byte_dot_many)(query, base, rows, stride, dimension, out);
  }
}

void byte_dot_gather(const int8_t* query, const int8_t* const* rows, size_t count, size_t dimension,
                     int32_t* out) {
  if (extensions().vnni) {
    vnni::byte_dot_gather(query, rows, count, dimension, out);
  } else {
    HWY_DYNAMIC_DISPATCH(byte_dot_gather)(query, rows, count, dimension, out);
  }
}

void byte_square_many(const int8_t* base, size_t rows, size_t stride, size_t dimension,
                      int32_t* out) {
  HWY_DYNAMIC_DISPATCH(byte_square_many)(base, rows, stride, dimension, out);
}

}  // namespace sibyl::simd
#endif
