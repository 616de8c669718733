#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::simd {

/// Nearest items so far, ascending by distance: two arrays of `capacity` items and kPoolBeyond more
/// that may be written. At most kPoolBatch items come at a time. Thread-safe.
inline constexpr size_t kPoolBatch = 32;
/// Room of the arrays of new items: kernels read whole registers.
inline constexpr size_t kPoolBatchRoom = 48;
inline constexpr size_t kPoolBeyond = 64;

struct SortedPool {
  float* distances = nullptr;
  uint32_t* items = nullptr;
  size_t size = 0;
  size_t capacity = 0;
};

/// Puts `count` new items where they belong, after equal ones, and drops what no longer fits. The
/// place of the nearest new one; size after the call when count is 0 or none was near enough.
/// `distances` and `items` have room for kPoolBatchRoom; what they hold afterwards is unspecified.
/// No distance is NaN.
size_t insert_batch(SortedPool& pool, float* distances, uint32_t* items, size_t count);

/// Copies the numbers and items that `bits` names to the front, in order; how many. `kept` and
/// `kept_items` have room for kPoolBatch.
size_t keep_bits(uint32_t bits, const float* numbers, const uint32_t* items, float* kept,
                 uint32_t* kept_items);

}  // namespace sibyl::simd
