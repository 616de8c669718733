#include "simd/internal/vnni.h"

#include <algorithm>
#include <array>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SIBYL_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace sibyl::simd::vnni {
namespace {

constexpr size_t kRowsShared = 4;

/// The sum of 16 lanes. Masked, because g++ 12 takes the plain forms for uninitialized.
SIBYL_VNNI inline int32_t sum_lanes(__m512i v) {
  const __m256i half = _mm256_add_epi32(_mm512_maskz_extracti64x4_epi64(15, v, 0),
                                        _mm512_maskz_extracti64x4_epi64(15, v, 1));
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
  return _mm_cvtsi128_si32(sum);
}

/// vpdpbusd multiplies unsigned by signed bytes: rows are raised by 128, which is taken back with
/// the sum of the query.
template <size_t kRows>
SIBYL_VNNI inline void dot_rows(const int8_t* query, const int8_t* const* rows, size_t dimension,
                                int32_t* out) {
  const __m512i raise = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i sums[kRows];
  __m512i query_sum = _mm512_setzero_si512();
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r) {
    sums[r] = _mm512_setzero_si512();
  }
  size_t i = 0;
  for (; i + 64 <= dimension; i += 64) {
    const __m512i q = _mm512_loadu_si512(query + i);
    query_sum = _mm512_dpbusd_epi32(query_sum, raise, q);
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r) {
      const __m512i row = _mm512_xor_si512(_mm512_loadu_si512(rows[r] + i), raise);
      sums[r] = _mm512_dpbusd_epi32(sums[r], row, q);
    }
  }
  if (i < dimension) {
    const __mmask64 rest = ~uint64_t{0} >> (64 - (dimension - i));
    const __m512i q = _mm512_maskz_loadu_epi8(rest, query + i);
    query_sum = _mm512_dpbusd_epi32(query_sum, raise, q);
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r) {
      const __m512i row = _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, rows[r] + i), raise);
      sums[r] = _mm512_dpbusd_epi32(sums[r], row, q);
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r) {
    out[r] = sum_lanes(_mm512_sub_epi32(sums[r], query_sum));
  }
}

}  // namespace

SIBYL_VNNI void byte_dot_gather(const int8_t* query, const int8_t* const* rows, size_t count,
                                size_t dimension, int32_t* out) {
  size_t r = 0;
  for (; r + kRowsShared <= count; r += kRowsShared) {
    dot_rows<kRowsShared>(query, rows + r, dimension, out + r);
  }
  for (; r < count; ++r) {
    dot_rows<1>(query, rows + r, dimension, out + r);
  }
}

SIBYL_VNNI void byte_dot_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                              size_t dimension, int32_t* out) {
  std::array<const int8_t*, kRowsShared> pointers{};
  for (size_t r = 0; r < rows; r += kRowsShared) {
    const size_t count = std::min(kRowsShared, rows - r);
    for (size_t i = 0; i < count; ++i) {
      pointers[i] = base + (r + i) * stride;
    }
    byte_dot_gather(query, pointers.data(), count, dimension, out + r);
  }
}

SIBYL_VNNI void nibble_dot_blocks(const int8_t* query, const uint8_t* base, size_t rows,
                                  size_t stride, size_t blocks, int32_t* out) {
  const __m256i low_bits = _mm256_set1_epi8(15);
  for (size_t r = 0; r < rows; ++r) {
    const uint8_t* row = base + r * stride;
    __m512i sum = _mm512_setzero_si512();
    for (size_t b = 0; b < blocks; ++b) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + b * 32));
      const __m256i low = _mm256_and_si256(bytes, low_bits);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_bits);
      const __m512i numbers =
          _mm512_maskz_inserti64x4(255, _mm512_maskz_broadcast_i64x4(255, low), high, 1);
      sum = _mm512_dpbusd_epi32(sum, numbers, _mm512_loadu_si512(query + b * 64));
    }
    out[r] = sum_lanes(sum);
  }
}

}  // namespace sibyl::simd::vnni

#else

namespace sibyl::simd::vnni {

void byte_dot_many(const int8_t*, const int8_t*, size_t, size_t, size_t, int32_t*) {
  base::check(false, "no VNNI on this architecture");
}
void byte_dot_gather(const int8_t*, const int8_t* const*, size_t, size_t, int32_t*) {
  base::check(false, "no VNNI on this architecture");
}
void nibble_dot_blocks(const int8_t*, const uint8_t*, size_t, size_t, size_t, int32_t*) {
  base::check(false, "no VNNI on this architecture");
}

}  // namespace sibyl::simd::vnni

#endif
