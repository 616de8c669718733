#include "encoder/internal/pooling.h"

#include <algorithm>
#include <cmath>

#include "simd/neural.h"

namespace sibyl::encoder {

namespace {

void divide(float* vector, size_t width, float divisor) {
  for (size_t i = 0; i < width; ++i) {
    vector[i] /= divisor;
  }
}

void sum_rows(const float* rows, size_t count, size_t width, float* out) {
  std::fill_n(out, width, 0.0F);
  for (size_t row = 0; row < count; ++row) {
    simd::add_scaled(out, rows + row * width, 1.0F, width);
  }
}

/// Later tokens weigh more: token i of the text counts i, from 1.
void weighted_mean(const float* rows, size_t count, size_t width, size_t skipped, float* out) {
  std::fill_n(out, width, 0.0F);
  float total = 0;
  for (size_t row = 0; row < count; ++row) {
    const auto weight = static_cast<float>(skipped + row + 1);
    simd::add_scaled(out, rows + row * width, weight, width);
    total += weight;
  }
  divide(out, width, total);
}

void largest(const float* rows, size_t count, size_t width, float* out) {
  std::copy_n(rows, width, out);
  for (size_t row = 1; row < count; ++row) {
    for (size_t i = 0; i < width; ++i) {
      out[i] = std::max(out[i], rows[row * width + i]);
    }
  }
}

}  // namespace

void pool_tokens(const model::PoolingModule& pooling, const float* tokens, size_t count,
                 size_t width, size_t skipped, float* out) {
  if (pooling.include_prompt || skipped >= count) {
    skipped = 0;
  }
  const float* rows = tokens + skipped * width;
  const size_t used = count - skipped;
  for (const model::PoolingMode mode : pooling.modes) {
    switch (mode) {
      case model::PoolingMode::Cls:
        std::copy_n(rows, width, out);
        break;
      case model::PoolingMode::LastToken:
        std::copy_n(rows + (used - 1) * width, width, out);
        break;
      case model::PoolingMode::Max:
        largest(rows, used, width, out);
        break;
      case model::PoolingMode::Mean:
        sum_rows(rows, used, width, out);
        divide(out, width, static_cast<float>(used));
        break;
      case model::PoolingMode::MeanSqrtLength:
        sum_rows(rows, used, width, out);
        divide(out, width, std::sqrt(static_cast<float>(used)));
        break;
      case model::PoolingMode::WeightedMean:
        weighted_mean(rows, used, width, skipped, out);
        break;
    }
    out += width;
  }
}

}  // namespace sibyl::encoder
