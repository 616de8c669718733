#include "simd/internal/popcount.h"

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SIBYL_POPCOUNT __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq")))

namespace sibyl::simd::popcount {
namespace {

/// Masked, because g++ 12 takes the plain forms for uninitialized.
SIBYL_POPCOUNT inline int32_t sum_lanes(__m512i v) {
  const __m256i half = _mm256_add_epi64(_mm512_maskz_extracti64x4_epi64(15, v, 0),
                                        _mm512_maskz_extracti64x4_epi64(15, v, 1));
  const __m128i sum =
      _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return static_cast<int32_t>(_mm_cvtsi128_si64(sum) + _mm_extract_epi64(sum, 1));
}

template <bool kDiffer>
SIBYL_POPCOUNT inline __m512i count(__m512i a, __m512i b) {
  return _mm512_popcnt_epi64(kDiffer ? _mm512_xor_si512(a, b) : _mm512_and_si512(a, b));
}

template <bool kDiffer>
SIBYL_POPCOUNT inline void count_rows(const uint8_t* query, const uint8_t* base, size_t rows,
                                      size_t stride, size_t bytes, int32_t* out) {
  const size_t rest = bytes % 64;
  const __mmask64 rest_mask = rest == 0 ? 0 : ~uint64_t{0} >> (64 - rest);
  for (size_t r = 0; r < rows; ++r) {
    const uint8_t* row = base + r * stride;
    __m512i sum = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 64 <= bytes; i += 64) {
      sum = _mm512_add_epi64(
          sum, count<kDiffer>(_mm512_loadu_si512(query + i), _mm512_loadu_si512(row + i)));
    }
    if (rest != 0) {
      sum = _mm512_add_epi64(sum, count<kDiffer>(_mm512_maskz_loadu_epi8(rest_mask, query + i),
                                                 _mm512_maskz_loadu_epi8(rest_mask, row + i)));
    }
    out[r] = sum_lanes(sum);
  }
}

}  // namespace

SIBYL_POPCOUNT void bit_distance_bytes(const uint8_t* query, const uint8_t* base, size_t rows,
                                       size_t stride, size_t bytes, int32_t* out) {
  count_rows<true>(query, base, rows, stride, bytes, out);
}

SIBYL_POPCOUNT void bit_dot_bytes(const uint8_t* query, const uint8_t* base, size_t rows,
                                  size_t stride, size_t bytes, int32_t* out) {
  count_rows<false>(query, base, rows, stride, bytes, out);
}

}  // namespace sibyl::simd::popcount

#else

namespace sibyl::simd::popcount {

void bit_distance_bytes(const uint8_t*, const uint8_t*, size_t, size_t, size_t, int32_t*) {
  base::check(false, "no AVX512_VPOPCNTDQ on this architecture");
}
void bit_dot_bytes(const uint8_t*, const uint8_t*, size_t, size_t, size_t, int32_t*) {
  base::check(false, "no AVX512_VPOPCNTDQ on this architecture");
}

}  // namespace sibyl::simd::popcount

#endif
