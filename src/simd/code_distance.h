#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::simd {

// Inner products and distances of coded vectors: one query against many rows; for many queries see
// many_to_many.h. The widest kernels of the CPU are chosen at run time (AVX-512 with VNNI and
// VPOPCNTDQ where present). Thread-safe. Rows lie `stride` elements apart and need no alignment;
// nothing beyond them is read. Whole numbers are exact whatever the values, for dimensions up to
// 32,768. A cosine with a vector of zeros is 0.

/// Signed bytes, -128 to 127. out[i] = sum of query * row i.
void byte_dot_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                   size_t dimension, int32_t* out);
/// The same for rows that lie anywhere: rows[i] points to row i.
void byte_dot_gather(const int8_t* query, const int8_t* const* rows, size_t count, size_t dimension,
                     int32_t* out);
/// out[i] = sum of the squares of row i.
void byte_square_many(const int8_t* base, size_t rows, size_t stride, size_t dimension,
                      int32_t* out);
void byte_squared_l2_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                          size_t dimension, int32_t* out);
void byte_cosine_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                      size_t dimension, float* out);

/// Four-bit numbers, 0 to 15, packed 64 in 32 bytes: byte j holds number j in its low half and
/// number 32 + j in its high half. A row has nibble_bytes(dimension) bytes; what fills the last 32
/// up is 0.
constexpr size_t nibble_bytes(size_t dimension) {
  return (dimension + 63) / 64 * 32;
}
void nibble_pack(const uint8_t* numbers, size_t dimension, uint8_t* row);
/// A query of signed bytes, [dimension], against rows of four-bit numbers.
void nibble_dot_many(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                     size_t dimension, int32_t* out);
void nibble_square_many(const uint8_t* base, size_t rows, size_t stride, size_t dimension,
                        int32_t* out);
void nibble_squared_l2_many(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                            size_t dimension, int32_t* out);
void nibble_cosine_many(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                        size_t dimension, float* out);

/// Single bits, eight in a byte; the dimension is in bits, and bits beyond it in a row's last byte
/// are 0. out[i] = number of bits that differ: the squared distance of 0/1 codes. Of codes that
/// stand for -1 and 1 the inner product is dimension - 2 out[i] and the squared distance 4 out[i].
void bit_distance_many(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                       size_t dimension, int32_t* out);
/// out[i] = number of bits that both have: the inner product of 0/1 codes.
void bit_dot_many(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                  size_t dimension, int32_t* out);
/// Cosine of 0/1 codes.
void bit_cosine_many(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                     size_t dimension, float* out);

/// Rows of float16 (IEEE, by their bits) against a float32 query; sums in float32. Infinity and NaN
/// go through, as in distance.h.
void half_dot_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                   size_t dimension, float* out);
void half_squared_l2_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                          size_t dimension, float* out);
void half_square_many(const uint16_t* base, size_t rows, size_t stride, size_t dimension,
                      float* out);
void half_cosine_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                      size_t dimension, float* out);

}  // namespace sibyl::simd
