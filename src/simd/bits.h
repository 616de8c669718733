#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sibyl::simd {

/// Bits of `words` that are set. Thread-safe.
size_t count_bits(std::span<const uint64_t> words);

/// The places of set bits by their ranks: the first set bit has rank 0; bit b of word w has place
/// 64 w + b. `ranks` ascend; those of count_bits(words) and more are left out. How many of
/// `places`, which has room for all and may be `ranks`, were written. Thread-safe.
size_t select_bits(std::span<const uint64_t> words, std::span<const size_t> ranks, size_t* places);

}  // namespace sibyl::simd
