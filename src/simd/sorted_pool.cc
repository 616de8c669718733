#include "simd/sorted_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/sorted_pool.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

/// Items of ascending `distances` that are at most `distance`, by halving down to a few registers
/// and counting there: no branch to guess.
HWY_INLINE size_t place_of(const float* distances, size_t size, float distance) {
  const Floats d;
  constexpr size_t kWindow = 64;
  size_t first = 0;
  size_t left = size;
  while (left > kWindow) {
    const size_t half = left / 2;
    first += distances[first + half - 1] <= distance ? half : 0;
    left -= half;
  }
  const auto wanted = hn::Set(d, distance);
  size_t place = first;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= left; i += hn::Lanes(d)) {
    place += hn::CountTrue(d, hn::Le(hn::LoadU(d, distances + first + i), wanted));
  }
  for (; i < left; ++i) {
    place += distances[first + i] <= distance ? 1 : 0;
  }
  return place;
}

#if HWY_TARGET == HWY_AVX3

/// Ranks among the new ones, equal ones in their order; then everything lies sorted.
HWY_INLINE void sort_new(float* distances, uint32_t* items, size_t count) {
  const __m512 first = _mm512_loadu_ps(distances);
  const __m512 second = _mm512_loadu_ps(distances + 16);
  const auto real = static_cast<uint32_t>(count >= 32 ? ~uint32_t{0} : (1U << count) - 1U);
  float sorted[32];
  uint32_t sorted_items[32];
  for (size_t j = 0; j < count; ++j) {
    const __m512 mine = _mm512_set1_ps(distances[j]);
    const uint32_t less =
        (_mm512_cmp_ps_mask(first, mine, _CMP_LT_OQ) |
         static_cast<uint32_t>(_mm512_cmp_ps_mask(second, mine, _CMP_LT_OQ)) << 16U) &
        real;
    const uint32_t equal =
        (_mm512_cmp_ps_mask(first, mine, _CMP_EQ_UQ) |
         static_cast<uint32_t>(_mm512_cmp_ps_mask(second, mine, _CMP_EQ_UQ)) << 16U) &
        ((uint32_t{1} << j) - 1U);
    const auto rank = static_cast<size_t>(std::popcount(less | equal));
    sorted[rank & 31U] = distances[j];
    sorted_items[rank & 31U] = items[j];
  }
  std::memcpy(distances, sorted, sizeof(sorted));
  std::memcpy(items, sorted_items, sizeof(sorted_items));
}

size_t insert_batch(SortedPool& pool, float* distances, uint32_t* items, size_t count) {
  if (count == 0) {
    return pool.size;
  }
  if (count > 1) {
    sort_new(distances, items, count);
  }
  size_t places[kPoolBatch];
  for (size_t j = 0; j < count; ++j) {
    places[j] = place_of(pool.distances, pool.size, distances[j]) + j;
  }
  const size_t lowest = places[0];
  const size_t total = std::min(pool.size + count, pool.capacity);
  if (lowest >= total) {
    pool.size = total;
    return pool.size;
  }
  // From the last block of 16 places to the first that changes: the new ones go to their places,
  // the old ones between them keep their order. What is read always lies before what is written.
  size_t before = count;  // new ones whose place is before the end of the block
  for (size_t block = (total - 1) / 16 + 1; block-- > lowest / 16;) {
    uint32_t mask = 0;
    const size_t start = block * 16;
    while (before > 0 && places[before - 1] >= start) {
      --before;
      const size_t place = places[before] - start;
      mask |= place < 16 ? 1U << place : 0U;
    }
    const auto new_places = static_cast<__mmask16>(mask);
    const auto old_places = static_cast<__mmask16>(~mask);
    const size_t from = start - before;  // old items that lie before the block
    __m512 merged = _mm512_maskz_expandloadu_ps(old_places, pool.distances + from);
    __m512i merged_items = _mm512_maskz_expandloadu_epi32(old_places, pool.items + from);
    merged = _mm512_mask_expandloadu_ps(merged, new_places, distances + before);
    merged_items = _mm512_mask_expandloadu_epi32(merged_items, new_places, items + before);
    _mm512_storeu_ps(pool.distances + start, merged);
    _mm512_storeu_si512(pool.items + start, merged_items);
  }
  pool.size = total;
  return lowest;
}

size_t keep_bits(uint32_t bits, const float* numbers, const uint32_t* items, float* kept,
                 uint32_t* kept_items) {
  const auto low = static_cast<__mmask16>(bits);
  const auto high = static_cast<__mmask16>(bits >> 16U);
  const auto first = static_cast<size_t>(std::popcount(bits & 0xFFFFU));
  // To registers first: compressing stores are slow on some processors.
  _mm512_storeu_ps(kept, _mm512_maskz_compress_ps(low, _mm512_loadu_ps(numbers)));
  _mm512_storeu_si512(kept_items, _mm512_maskz_compress_epi32(low, _mm512_loadu_si512(items)));
  const __m512 second = _mm512_maskz_compress_ps(high, _mm512_loadu_ps(numbers + 16));
  const __m512i second_items = _mm512_maskz_compress_epi32(high, _mm512_loadu_si512(items + 16));
  const auto rest = static_cast<size_t>(std::popcount(bits >> 16U));
  const auto room = static_cast<__mmask16>((1U << rest) - 1U);
  _mm512_mask_storeu_ps(kept + first, room, second);
  _mm512_mask_storeu_epi32(kept_items + first, room, second_items);
  return first + rest;
}

#else

size_t insert_batch(SortedPool& pool, float* distances, uint32_t* items, size_t count) {
  size_t lowest = pool.capacity;
  for (size_t j = 0; j < count; ++j) {
    const size_t place = place_of(pool.distances, pool.size, distances[j]);
    if (place >= pool.capacity) {
      continue;
    }
    const size_t moved = pool.size - place;
    std::memmove(pool.distances + place + 1, pool.distances + place, moved * sizeof(float));
    std::memmove(pool.items + place + 1, pool.items + place, moved * sizeof(uint32_t));
    pool.distances[place] = distances[j];
    pool.items[place] = items[j];
    pool.size = std::min(pool.size + 1, pool.capacity);
    lowest = std::min(lowest, place);
  }
  return std::min(lowest, pool.size);
}

size_t keep_bits(uint32_t bits, const float* numbers, const uint32_t* items, float* kept,
                 uint32_t* kept_items) {
  size_t count = 0;
  for (; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    kept[count] = numbers[i];
    kept_items[count++] = items[i];
  }
  return count;
}

#endif

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(insert_batch);
HWY_EXPORT(keep_bits);

size_t insert_batch(SortedPool& pool, float* distances, uint32_t* items, size_t count) {
  return HWY_DYNAMIC_DISPATCH(insert_batch)(pool, distances, items, count);
}

size_t keep_bits(uint32_t bits, const float* numbers, const uint32_t* items, float* kept,
                 uint32_t* kept_items) {
  return HWY_DYNAMIC_DISPATCH(keep_bits)(bits, numbers, items, kept, kept_items);
}

}  // namespace sibyl::simd
#endif
