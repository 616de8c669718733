#include "index/internal/principal_axes.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "simd/distance.h"

namespace sibyl::index {
namespace {

constexpr int kRounds = 16;
constexpr size_t kBlock = 16;

/// Square symmetric matrix of the inner products of `rows` vectors of `length` numbers.
Result<std::vector<float>> inner_products(std::span<const float> vectors, size_t rows,
                                          size_t length, NeighbourWork& work, double share) {
  std::vector<float> out(rows * rows);
  Result<void> done =
      work.for_blocks(rows, kBlock, share, [&](size_t first, size_t last, size_t /*worker*/) {
        for (size_t i = first; i < last; ++i) {
          simd::dot_many(vectors.data() + i * length, vectors.data(), rows, length, length,
                         out.data() + i * rows);
        }
      });
  if (!done) {
    return pass_on(done);
  }
  return out;
}

std::vector<float> transposed(std::span<const float> matrix, size_t rows, size_t columns) {
  std::vector<float> out(matrix.size());
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      out[j * rows + i] = matrix[i * columns + j];
    }
  }
  return out;
}

/// Gram and Schmidt, twice for the rounding; a vector that vanishes becomes zeros.
void orthonormalize(std::vector<float>& vectors, size_t count, size_t length) {
  std::vector<float> shares(count);
  for (size_t i = 0; i < count; ++i) {
    float* vector = vectors.data() + i * length;
    const float before = std::sqrt(simd::dot(vector, vector, length));
    for (int pass = 0; pass < 2 && i > 0; ++pass) {
      simd::dot_many(vector, vectors.data(), i, length, length, shares.data());
      for (size_t j = 0; j < i; ++j) {
        const float* other = vectors.data() + j * length;
        for (size_t c = 0; c < length; ++c) {
          vector[c] -= shares[j] * other[c];
        }
      }
    }
    const float after = std::sqrt(simd::dot(vector, vector, length));
    if (!(after > before * 1e-5F)) {
      std::fill(vector, vector + length, 0.0F);
    } else {
      simd::normalize(vector, length);
    }
  }
}

/// The leading eigenvectors, [count x size].
Result<std::vector<float>> leading(std::span<const float> matrix, size_t size, size_t count,
                                   uint64_t seed, NeighbourWork& work, double share) {
  std::mt19937_64 random(seed);
  std::vector<float> vectors(count * size);
  for (float& value : vectors) {
    value = static_cast<float>(random() >> 40U) / static_cast<float>(1U << 24U) - 0.5F;
  }
  orthonormalize(vectors, count, size);
  std::vector<float> next(vectors.size());
  for (int round = 0; round < kRounds; ++round) {
    Result<void> done = work.for_blocks(
        count, 1, share / kRounds, [&](size_t first, size_t last, size_t /*worker*/) {
          for (size_t i = first; i < last; ++i) {
            simd::dot_many(vectors.data() + i * size, matrix.data(), size, size, size,
                           next.data() + i * size);
          }
        });
    if (!done) {
      return pass_on(done);
    }
    vectors.swap(next);
    orthonormalize(vectors, count, size);
  }
  return vectors;
}

/// Directions among the samples become directions of space: weights [count x n] of the samples.
std::vector<float> combine(std::span<const float> weights, std::span<const float> samples,
                           size_t count, size_t dimension) {
  const size_t n = samples.size() / dimension;
  std::vector<float> out(count * dimension, 0.0F);
  for (size_t i = 0; i < count; ++i) {
    float* axis = out.data() + i * dimension;
    for (size_t s = 0; s < n; ++s) {
      const float weight = weights[i * n + s];
      const float* sample = samples.data() + s * dimension;
      for (size_t c = 0; c < dimension; ++c) {
        axis[c] += weight * sample[c];
      }
    }
  }
  orthonormalize(out, count, dimension);
  return out;
}

void measure(std::span<const float> samples, PrincipalAxes& out) {
  const size_t count = out.axes.size() / out.dimension;
  const size_t n = samples.size() / out.dimension;
  std::vector<double> squares(count, 0.0);
  std::vector<float> along(count);
  for (size_t s = 0; s < n; ++s) {
    const float* sample = samples.data() + s * out.dimension;
    simd::dot_many(sample, out.axes.data(), count, out.dimension, out.dimension, along.data());
    for (size_t i = 0; i < count; ++i) {
      squares[i] += double{along[i]} * along[i] / static_cast<double>(n);
    }
  }
  out.variances.assign(squares.begin(), squares.end());
}

}  // namespace

Result<PrincipalAxes> principal_axes(std::span<const float> samples, size_t dimension, size_t count,
                                     uint64_t seed, NeighbourWork& work, double share) {
  const size_t n = samples.size() / dimension;
  const size_t wanted = std::min({count, dimension, n});
  PrincipalAxes out;
  out.dimension = dimension;
  // The smaller of the two matrices that have the same eigenvalues.
  const bool by_dimension = dimension <= n;
  const size_t size = by_dimension ? dimension : n;
  const std::vector<float> turned =
      by_dimension ? transposed(samples, n, dimension) : std::vector<float>();
  Result<std::vector<float>> matrix =
      inner_products(by_dimension ? std::span<const float>(turned) : samples, size,
                     by_dimension ? n : dimension, work, share / 2);
  if (!matrix) {
    return pass_on(matrix);
  }
  Result<std::vector<float>> vectors = leading(*matrix, size, wanted, seed, work, share / 2);
  if (!vectors) {
    return pass_on(vectors);
  }
  out.axes = by_dimension ? std::move(*vectors) : combine(*vectors, samples, wanted, dimension);
  measure(samples, out);
  return out;
}

}  // namespace sibyl::index
