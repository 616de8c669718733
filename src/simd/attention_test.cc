#include <cmath>
#include <random>
#include <vector>

#include "simd/internal/every_level.h"
#include "simd/neural.h"

namespace sibyl::simd {
namespace {

std::vector<float> random_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

/// One row of attention in double.
std::vector<double> plain_row(const float* q, const float* k, const float* v, size_t tokens,
                              size_t dimension, size_t stride, double scale) {
  std::vector<double> scores(tokens);
  double most = -1e300;
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t i = 0; i < dimension; ++i) {
      scores[t] += scale * q[i] * k[t * stride + i];
    }
    most = std::max(most, scores[t]);
  }
  double sum = 0;
  for (double& score : scores) {
    score = std::exp(score - most);
    sum += score;
  }
  std::vector<double> out(dimension);
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t i = 0; i < dimension; ++i) {
      out[i] += scores[t] / sum * v[t * stride + i];
    }
  }
  return out;
}

TEST(Attention, AgreesWithPlainLoopsInsideAFusedMatrix) {
  at_every_level([] {
    for (const size_t dimension : {1, 20, 32, 64, 96}) {
      for (const size_t tokens : {1, 2, 5, 12, 16, 31, 33, 70}) {
        const size_t stride = 3 * dimension + 5;
        const auto fused = random_floats(tokens * stride, 11);
        const float* q = fused.data();
        const float* k = q + dimension;
        const float* v = k + dimension;
        std::vector<float> scratch(tokens * tokens);
        const size_t out_stride = dimension + 1;
        std::vector<float> out(tokens * out_stride, -7.0f);
        attention_head(q, k, v, tokens, dimension, stride, 0.25f, scratch.data(), out.data(),
                       out_stride);
        for (size_t t = 0; t < tokens; ++t) {
          const auto expected = plain_row(q + t * stride, k, v, tokens, dimension, stride, 0.25);
          for (size_t i = 0; i < dimension; ++i) {
            ASSERT_NEAR(out[t * out_stride + i], expected[i], 1e-5)
                << dimension << " dimensions, " << tokens << " tokens";
          }
          EXPECT_EQ(out[t * out_stride + dimension], -7.0f) << "gap is not touched";
        }
      }
    }
  });
}

// Rows run in blocks of several sizes; the block must not show in the bits.
TEST(Attention, EqualQueriesGiveEqualBitsInEveryBlock) {
  at_every_level([] {
    const size_t tokens = 41;
    const size_t dimension = 32;
    auto q = random_floats(tokens * dimension, 12);
    const auto k = random_floats(tokens * dimension, 13);
    const auto v = random_floats(tokens * dimension, 14);
    for (size_t t = 1; t < tokens; ++t) {
      std::copy(q.begin(), q.begin() + dimension, q.begin() + static_cast<long>(t * dimension));
    }
    std::vector<float> scratch(tokens * tokens);
    std::vector<float> out(tokens * dimension);
    attention_head(q.data(), k.data(), v.data(), tokens, dimension, dimension, 0.2f, scratch.data(),
                   out.data(), dimension);
    for (size_t i = dimension; i < out.size(); ++i) {
      ASSERT_EQ(out[i], out[i % dimension]);
    }
  });
}

TEST(MatrixProduct, AgreesWithPlainLoopsAndKeepsItsBitsInEveryShape) {
  at_every_level([] {
    for (const size_t k : {1, 5, 16, 31, 100, 384}) {
      const size_t m = 9;
      const size_t n = 13;
      const auto a = random_floats(m * (k + 1), 15);
      const auto b = random_floats(n * (k + 2), 16);
      std::vector<float> c(m * (n + 1), -7.0f);
      matrix_product_transposed(a.data(), m, k + 1, b.data(), n, k + 2, k, c.data(), n + 1);
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
          double expected = 0;
          for (size_t t = 0; t < k; ++t) {
            expected += static_cast<double>(a[i * (k + 1) + t]) * b[j * (k + 2) + t];
          }
          const float value = c[i * (n + 1) + j];
          ASSERT_NEAR(value, expected, 1e-5 * (10 + static_cast<double>(k)));
          float alone = 0;
          matrix_product_transposed(a.data() + i * (k + 1), 1, k + 1, b.data() + j * (k + 2), 1,
                                    k + 2, k, &alone, 1);
          ASSERT_EQ(alone, value);
        }
        EXPECT_EQ(c[i * (n + 1) + n], -7.0f) << "gap is not touched";
      }
    }
  });
}

TEST(EmbeddingSum, AddsRowsOfEveryType) {
  at_every_level([] {
    for (const size_t dimension : {1, 2, 7, 8, 16, 33, 256}) {
      std::vector<float> sum(dimension, 1.0f);
      const auto row = random_floats(dimension, 17);
      add_scaled(sum.data(), row.data(), 0.5f, dimension);
      std::vector<uint16_t> halves(dimension);
      std::vector<int8_t> bytes(dimension);
      for (size_t i = 0; i < dimension; ++i) {
        ASSERT_NEAR(sum[i], 1 + 0.5 * row[i], 1e-6);
        halves[i] = i % 2 == 0 ? 0x3E00 : 0xC000;  // 1.5 and -2
        bytes[i] = static_cast<int8_t>(i % 2 == 0 ? 127 : -128);
      }
      std::fill(sum.begin(), sum.end(), 1.0f);
      add_scaled_f16(sum.data(), halves.data(), 2.0f, dimension);
      add_scaled_i8(sum.data(), bytes.data(), 10.0f, dimension);
      for (size_t i = 0; i < dimension; ++i) {
        ASSERT_EQ(sum[i], i % 2 == 0 ? 1.0f + 3.0f + 1270.0f : 1.0f - 4.0f - 1280.0f);
      }
    }
  });
}

// Tiny halves are subnormal: 2^-24 is the least.
TEST(EmbeddingSum, ReadsSubnormalHalves) {
  at_every_level([] {
    float sum = 0;
    const uint16_t least = 1;
    add_scaled_f16(&sum, &least, 1.0f, 1);
    EXPECT_EQ(sum, std::ldexp(1.0f, -24));
  });
}

}  // namespace
}  // namespace sibyl::simd
