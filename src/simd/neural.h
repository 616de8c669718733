#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::simd {

/// Row-wise pieces of a transformer in float32. Each row's result depends on that row alone, so the
/// same text gives the same bits in any batch (per instruction set). Row-major; in place where one
/// pointer is given. Thread-safe.

/// x[r] += bias, then the exact (erf) GELU of BERT; erf to 1e-6 relative.
void bias_gelu(float* x, const float* bias, size_t rows, size_t columns);
/// x[r] += bias
void add_bias(float* x, const float* bias, size_t rows, size_t columns);
/// out[r] = layer_norm(x[r] + bias + residual[r]) * gain + shift. `bias` and `residual` may be
/// null; `out` may be x.
void residual_layer_norm(const float* x, const float* bias, const float* residual,
                         const float* gain, const float* shift, float epsilon, size_t rows,
                         size_t columns, float* out);
/// Softmax over `columns` of each of `rows` rows lying `stride` apart, after multiplying by
/// `scale`.
void softmax(float* x, size_t rows, size_t columns, size_t stride, float scale);
/// tanh in place.
void tanh(float* x, size_t count);

/// Self-attention of one sequence and one head: q, k, v are [tokens x head_dimension] with row
/// stride `stride` (inside a fused QKV matrix); out has row stride `out_stride`. `scratch` holds
/// tokens * tokens floats. The order of sums depends on `tokens` alone.
void attention_head(const float* q, const float* k, const float* v, size_t tokens,
                    size_t head_dimension, size_t stride, float scale, float* scratch, float* out,
                    size_t out_stride);

/// C[m x n] = A[m x k] * B[n x k]^T with plain strides: small products (Dense layers, scores). The
/// value of C[i][j] depends on row i of A and row j of B alone.
void matrix_product_transposed(const float* a, size_t m, size_t a_stride, const float* b, size_t n,
                               size_t b_stride, size_t k, float* c, size_t c_stride);

/// sum += weight * row, float32 accumulators; for embedding bags.
void add_scaled(float* sum, const float* row, float weight, size_t dimension);
void add_scaled_f16(float* sum, const uint16_t* row, float weight, size_t dimension);
void add_scaled_i8(float* sum, const int8_t* row, float weight, size_t dimension);

}  // namespace sibyl::simd
