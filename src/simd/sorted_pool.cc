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

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

#if HWY_TARGET == HWY_AVX3

constexpr size_t kBlock = 16;
constexpr uint32_t kBlockMask = 0xFFFF;

/// Bits of the 32 distances that are less than mine, and of those that are equal.
HWY_INLINE void compare_all(const float* distances, float mine, uint32_t& less, uint32_t& equal) {
  const __m512 wanted = _mm512_set1_ps(mine);
  const __m512 first = _mm512_loadu_ps(distances);
  const __m512 second = _mm512_loadu_ps(distances + 16);
  less = _mm512_cmp_ps_mask(first, wanted, _CMP_LT_OQ) |
         static_cast<uint32_t>(_mm512_cmp_ps_mask(second, wanted, _CMP_LT_OQ)) << 16U;
  equal = _mm512_cmp_ps_mask(first, wanted, _CMP_EQ_OQ) |
          static_cast<uint32_t>(_mm512_cmp_ps_mask(second, wanted, _CMP_EQ_OQ)) << 16U;
}

/// Old items go, in order, to the places whose bit in `mask` is clear, new ones to the others.
HWY_INLINE void merge_block(const float* old_distances, const uint32_t* old_items,
                            const float* new_distances, const uint32_t* new_items, uint32_t mask,
                            float* distances, uint32_t* items) {
  const auto new_places = static_cast<__mmask16>(mask);
  const auto old_places = static_cast<__mmask16>(~mask);
  __m512 merged = _mm512_maskz_expandloadu_ps(old_places, old_distances);
  __m512i merged_items = _mm512_maskz_expandloadu_epi32(old_places, old_items);
  merged = _mm512_mask_expandloadu_ps(merged, new_places, new_distances);
  merged_items = _mm512_mask_expandloadu_epi32(merged_items, new_places, new_items);
  _mm512_storeu_ps(distances, merged);
  _mm512_storeu_si512(items, merged_items);
}

#else

constexpr size_t kBlock = 8;
constexpr uint32_t kBlockMask = 0xFF;

HWY_INLINE void compare_all(const float* distances, float mine, uint32_t& less, uint32_t& equal) {
  const __m256 wanted = _mm256_set1_ps(mine);
  less = 0;
  equal = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const __m256 part = _mm256_loadu_ps(distances + i * 8);
    const int below = _mm256_movemask_ps(_mm256_cmp_ps(part, wanted, _CMP_LT_OQ));
    const int same = _mm256_movemask_ps(_mm256_cmp_ps(part, wanted, _CMP_EQ_OQ));
    less |= static_cast<uint32_t>(below) << (i * 8);
    equal |= static_cast<uint32_t>(same) << (i * 8);
  }
}

/// For each mask of 8 places, which item in order goes to each place, and all bits where one does.
struct Spread {
  uint8_t source[256][8];
  uint8_t chosen[256][8];
};
constexpr Spread make_spread() {
  Spread made{};
  for (uint32_t mask = 0; mask < 256; ++mask) {
    uint8_t next = 0;
    for (uint32_t place = 0; place < 8; ++place) {
      made.source[mask][place] = next;
      const bool here = (mask >> place & 1U) != 0;
      made.chosen[mask][place] = here ? 0xFF : 0;
      next = static_cast<uint8_t>(next + (here ? 1 : 0));
    }
  }
  return made;
}
constexpr Spread kSpread = make_spread();

HWY_INLINE __m256i spread_of(const uint8_t (&bytes)[8]) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}

HWY_INLINE void merge_block(const float* old_distances, const uint32_t* old_items,
                            const float* new_distances, const uint32_t* new_items, uint32_t mask,
                            float* distances, uint32_t* items) {
  const __m256i old_source = spread_of(kSpread.source[~mask & 0xFFU]);
  const __m256i new_source = spread_of(kSpread.source[mask]);
  const __m256i is_new =
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kSpread.chosen[mask])));
  const auto load = [](const uint32_t* from) HWY_ATTR {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  };
  const __m256 old_part = _mm256_permutevar8x32_ps(_mm256_loadu_ps(old_distances), old_source);
  const __m256 new_part = _mm256_permutevar8x32_ps(_mm256_loadu_ps(new_distances), new_source);
  const __m256i old_rest = _mm256_permutevar8x32_epi32(load(old_items), old_source);
  const __m256i new_rest = _mm256_permutevar8x32_epi32(load(new_items), new_source);
  _mm256_storeu_ps(distances, _mm256_blendv_ps(old_part, new_part, _mm256_castsi256_ps(is_new)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(items),
                      _mm256_blendv_epi8(old_rest, new_rest, is_new));
}

#endif

/// Sorts the new ones by their ranks, equal ones in their order. `distances` and `items` have room
/// for a block more than a batch.
HWY_INLINE void sort_new(float* distances, uint32_t* items, size_t count) {
  const auto real = static_cast<uint32_t>(count >= 32 ? ~uint32_t{0} : (1U << count) - 1U);
  float from[kPoolBatch];
  uint32_t from_items[kPoolBatch];
  std::memcpy(from, distances, sizeof(from));
  std::memcpy(from_items, items, sizeof(from_items));
  for (size_t j = 0; j < count; ++j) {
    uint32_t less = 0;
    uint32_t equal = 0;
    compare_all(from, from[j], less, equal);
    const uint32_t before = (less & real) | (equal & ((uint32_t{1} << j) - 1U));
    const auto rank = static_cast<size_t>(std::popcount(before)) & (kPoolBatch - 1);
    distances[rank] = from[j];
    items[rank] = from_items[j];
  }
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
  // From the last block of places to the first that changes: the new ones go to their places, the
  // old ones between them keep their order. What is read always lies before what is written.
  size_t before = count;  // new ones whose place is before the block
  for (size_t block = (total - 1) / kBlock + 1; block-- > lowest / kBlock;) {
    uint32_t mask = 0;
    const size_t start = block * kBlock;
    while (before > 0 && places[before - 1] >= start) {
      --before;
      const size_t place = places[before] - start;
      mask |= place < kBlock ? 1U << place : 0U;
    }
    const size_t from = start - before;  // old items that lie before the block
    merge_block(pool.distances + from, pool.items + from, distances + before, items + before,
                mask & kBlockMask, pool.distances + start, pool.items + start);
  }
  pool.size = total;
  return lowest;
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

#endif

#if HWY_TARGET == HWY_AVX3

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
