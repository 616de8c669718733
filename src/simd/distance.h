#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sibyl::simd {

/// Distances of float32 vectors, the widest kernel of the CPU chosen at run time. Thread-safe.
/// The same pair of vectors gives the same bits through every function here and any batch shape.
float dot(const float* a, const float* b, size_t dimension);
float squared_l2(const float* a, const float* b, size_t dimension);

/// One query against `rows` vectors lying `stride` floats apart; out[i] = dot(query, row i).
void dot_many(const float* query, const float* base, size_t rows, size_t stride, size_t dimension,
              float* out);
void squared_l2_many(const float* query, const float* base, size_t rows, size_t stride,
                     size_t dimension, float* out);

/// Cosine of the angle with every row; 0 for a vector of zeros. Squared lengths must fit a float.
void cosine_many(const float* query, const float* base, size_t rows, size_t stride,
                 size_t dimension, float* out);

/// Scales to unit length; a zero vector stays zero. Returns the old length.
float normalize(float* vector, size_t dimension);

/// Kernel family in use: "AVX3_ZEN4", "AVX3", "AVX2", "NEON", ...
std::string_view kernel_name();

}  // namespace sibyl::simd
