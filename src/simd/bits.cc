#include "simd/bits.h"

#include <bit>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/bits.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

// Plain code: from SSE4 on the compiler knows the instruction that counts a word's bits, which the
// lowest level counts by tables, at a tenth of the rate.

size_t count_bits(const uint64_t* words, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += static_cast<size_t>(std::popcount(words[i]));
  }
  return sum;
}

size_t select_bits(const uint64_t* words, size_t count, const size_t* ranks, size_t wanted,
                   size_t* places) {
  constexpr size_t kBlock = 8;
  size_t before = 0;  // set bits of earlier blocks
  size_t found = 0;
  for (size_t first = 0; first < count && found < wanted; first += kBlock) {
    const size_t block = count - first < kBlock ? count - first : kBlock;
    const size_t here = count_bits(words + first, block);
    if (ranks[found] >= before + here) {
      before += here;
      continue;
    }
    for (size_t word = first; word < first + block; ++word) {
      const auto bits_here = static_cast<size_t>(std::popcount(words[word]));
      for (; found < wanted && ranks[found] < before + bits_here; ++found) {
        uint64_t bits = words[word];
        for (size_t skip = ranks[found] - before; skip > 0; --skip) {
          bits &= bits - 1;
        }
        places[found] = word * 64 + static_cast<size_t>(std::countr_zero(bits));
      }
      before += bits_here;
    }
  }
  return found;
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(count_bits);
HWY_EXPORT(select_bits);

size_t count_bits(std::span<const uint64_t> words) {
  return HWY_DYNAMIC_DISPATCH(count_bits)(words.data(), words.size());
}

size_t select_bits(std::span<const uint64_t> words, std::span<const size_t> ranks, size_t* places) {
  return HWY_DYNAMIC_DISPATCH(select_bits)(words.data(), words.size(), ranks.data(), ranks.size(),
                                           places);
}

}  // namespace sibyl::simd
#endif
