#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::simd {

// Inner products and distances of coded vectors, exact in whole numbers whatever the values; one
// query against many rows, and many queries against many rows. The widest kernels of the CPU are
// chosen at run time (AVX-512 with VNNI and VPOPCNTDQ where present). Thread-safe. Rows lie
// `stride` bytes apart and need no alignment; nothing beyond them is read. Dimensions up to 32,768.

/// Signed bytes, -128 to 127. out[i] = sum of query * row i.
void byte_dot_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                   size_t dimension, int32_t* out);
/// The same for rows that lie anywhere: rows[i] points to row i.
void byte_dot_gather(const int8_t* query, const int8_t* const* rows, size_t count, size_t dimension,
                     int32_t* out);

}  // namespace sibyl::simd
