#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sibyl::simd {

/// A random rotation of vectors that costs n log n: rounds of random signs, a Walsh-Hadamard
/// transform of a power of two of the coordinates (the first ones and the last ones by turns) and
/// sums and differences of the two halves. Lengths and inner products stay as they are, up to
/// rounding; what stood in few coordinates is spread over all. Immutable, thread-safe.
/// The same bits on every instruction set.
class Rotation {
 public:
  static constexpr size_t kRounds = 4;
  /// 64-bit words of signs that `dimension` needs.
  static constexpr size_t sign_words(size_t dimension) { return kRounds * (dimension / 64); }
  /// `dimension` is a multiple of 64; `signs` has sign_words(dimension) random words, kept by view.
  Rotation(size_t dimension, std::span<const uint64_t> signs);
  size_t dimension() const { return dimension_; }
  /// Rotates [dimension] numbers in place.
  void apply(float* vector) const;

 private:
  size_t dimension_;
  size_t power_;  ///< Greatest power of two that is not above the dimension.
  std::span<const uint64_t> signs_;
};

}  // namespace sibyl::simd
