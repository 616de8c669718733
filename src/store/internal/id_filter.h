#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sibyl::store {

/// Blocked Bloom filter over hash64 of ids: one 512-bit block an id, 7 bits in it, 12 bits of space
/// an id (about 1 % false answers). Tells at once that an id is not in a segment.
inline constexpr size_t kFilterBlockWords = 8;

inline size_t filter_words(size_t ids) {
  return (ids * 12 + 511) / 512 * kFilterBlockWords + kFilterBlockWords;
}

template <class Visit>
bool visit_filter_bits(uint64_t hash, size_t words, const Visit& visit) {
  const uint64_t blocks = words / kFilterBlockWords;
  const size_t base = static_cast<size_t>((hash >> 32) % blocks) * kFilterBlockWords;
  uint64_t bits = hash * 0x9E3779B97F4A7C15ULL;
  for (int i = 0; i < 7; ++i) {
    const uint64_t bit = bits & 511;
    if (!visit(base + bit / 64, uint64_t{1} << (bit % 64))) {
      return false;
    }
    bits >>= 9;
  }
  return true;
}

inline void filter_insert(std::span<uint64_t> words, uint64_t hash) {
  visit_filter_bits(hash, words.size(), [&](size_t word, uint64_t mask) {
    words[word] |= mask;
    return true;
  });
}
inline bool filter_may_contain(std::span<const uint64_t> words, uint64_t hash) {
  return visit_filter_bits(hash, words.size(),
                           [&](size_t word, uint64_t mask) { return (words[word] & mask) != 0; });
}

}  // namespace sibyl::store
