#include "simd/neural.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

constexpr size_t kColumns[] = {1, 3, 7, 8, 15, 16, 17, 33, 100, 384, 1536};

std::vector<float> random_floats(size_t count, uint32_t seed, float spread = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

double plain_gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

TEST(Neural, GeluIsTheExactOneOverItsWholeRange) {
  at_every_level([] {
    std::vector<float> x;
    for (double value = -12; value <= 12; value += 0.0007) {
      x.push_back(static_cast<float>(value));
    }
    const std::vector<float> given = x;
    const std::vector<float> bias(x.size(), 0.0f);
    bias_gelu(x.data(), bias.data(), 1, x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = plain_gelu(given[i]);
      ASSERT_NEAR(x[i], expected, 1e-6 * std::max(1.0, std::abs(expected))) << given[i];
    }
  });
}

// erf(x / sqrt 2) = gelu(x) / (x / 2) - 1: small x show its relative error.
TEST(Neural, GeluKeepsRelativeAccuracyForSmallAndPositiveValues) {
  at_every_level([] {
    for (double value = 1e-8; value < 5; value *= 1.01) {
      float x = static_cast<float>(value);
      const double expected = plain_gelu(x);
      const float bias = 0;
      bias_gelu(&x, &bias, 1, 1);
      ASSERT_NEAR(x / expected, 1, 1e-6) << value;
    }
  });
}

TEST(Neural, GeluOfExtremes) {
  at_every_level([] {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<float> x = {1e30f, -1e30f, kInfinity, 0.0f, std::nanf("")};
    const std::vector<float> bias(5, 0.0f);
    bias_gelu(x.data(), bias.data(), 1, 5);
    EXPECT_EQ(x[0], 1e30f);
    EXPECT_EQ(x[1], 0.0f);
    EXPECT_EQ(x[2], kInfinity);
    EXPECT_EQ(x[3], 0.0f);
    EXPECT_TRUE(std::isnan(x[4]));
  });
}

TEST(Neural, BiasIsAddedToEveryRow) {
  at_every_level([] {
    for (const size_t columns : kColumns) {
      auto x = random_floats(5 * columns, 1);
      const auto given = x;
      const auto bias = random_floats(columns, 2);
      add_bias(x.data(), bias.data(), 5, columns);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(x[i], given[i] + bias[i % columns]);
      }
      x = given;
      bias_gelu(x.data(), bias.data(), 5, columns);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(x[i], plain_gelu(given[i] + bias[i % columns]), 2e-6);
      }
    }
  });
}

std::vector<double> plain_layer_norm(const std::vector<double>& row, const float* gain,
                                     const float* shift, double epsilon) {
  double mean = 0;
  for (const double value : row) {
    mean += value / static_cast<double>(row.size());
  }
  double variance = 0;
  for (const double value : row) {
    variance += (value - mean) * (value - mean) / static_cast<double>(row.size());
  }
  std::vector<double> out;
  for (size_t i = 0; i < row.size(); ++i) {
    out.push_back((row[i] - mean) / std::sqrt(variance + epsilon) * gain[i] + shift[i]);
  }
  return out;
}

TEST(Neural, LayerNormAgreesWithPlainLoopsWithAndWithoutBias) {
  at_every_level([] {
    for (const size_t columns : kColumns) {
      const size_t rows = 4;
      auto x = random_floats(rows * columns, 1, 3);
      const auto residual = random_floats(rows * columns, 2, 3);
      const auto bias = random_floats(columns, 3);
      const auto gain = random_floats(columns, 4);
      const auto shift = random_floats(columns, 5);
      std::vector<float> out(rows * columns);
      for (const bool biased : {true, false}) {
        residual_layer_norm(x.data(), biased ? bias.data() : nullptr, residual.data(), gain.data(),
                            shift.data(), 1e-12f, rows, columns, out.data());
        for (size_t r = 0; r < rows; ++r) {
          std::vector<double> row(columns);
          for (size_t i = 0; i < columns; ++i) {
            row[i] = static_cast<double>(x[r * columns + i]) + residual[r * columns + i] +
                     (biased ? bias[i] : 0.0f);
          }
          const auto expected = plain_layer_norm(row, gain.data(), shift.data(), 1e-12);
          for (size_t i = 0; columns > 1 && i < columns; ++i) {
            ASSERT_NEAR(out[r * columns + i], expected[i], 2e-5);
          }
        }
      }
      residual_layer_norm(x.data(), nullptr, residual.data(), gain.data(), shift.data(), 1e-12f,
                          rows, columns, x.data());
      EXPECT_EQ(x, out) << "in place";
    }
  });
}

// One pass over sums of squares would give a variance of zero here.
TEST(Neural, LayerNormOfARowFarFromZeroKeepsItsVariance) {
  at_every_level([] {
    std::vector<float> x(384);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = i % 2 == 0 ? 4095.0f : 4097.0f;
    }
    const std::vector<float> zero(384, 0.0f);
    const std::vector<float> one(384, 1.0f);
    residual_layer_norm(x.data(), nullptr, nullptr, one.data(), zero.data(), 1e-12f, 1, 384,
                        x.data());
    EXPECT_NEAR(x[0], -1, 1e-5);
    EXPECT_NEAR(x[1], 1, 1e-5);
  });
}

TEST(Neural, SoftmaxSumsToOneAndSurvivesLargeScores) {
  at_every_level([] {
    for (const size_t columns : kColumns) {
      const size_t stride = columns + 2;
      auto x = random_floats(3 * stride, 6, 20);
      x[0] = 3e4f;
      const auto given = x;
      softmax(x.data(), 3, columns, stride, 0.5f);
      for (size_t r = 0; r < 3; ++r) {
        double most = -1e300;
        for (size_t i = 0; i < columns; ++i) {
          most = std::max(most, 0.5 * given[r * stride + i]);
        }
        double sum = 0;
        for (size_t i = 0; i < columns; ++i) {
          sum += std::exp(0.5 * given[r * stride + i] - most);
        }
        for (size_t i = 0; i < columns; ++i) {
          const double expected = std::exp(0.5 * given[r * stride + i] - most) / sum;
          ASSERT_NEAR(x[r * stride + i], expected, 4e-6 * expected + 1e-37);
        }
        EXPECT_EQ(x[r * stride + columns], given[r * stride + columns]) << "gap is not touched";
      }
    }
  });
}

TEST(Neural, TanhAgreesWithTheStandardLibrary) {
  at_every_level([] {
    std::vector<float> x = {0, -0.0f, 1e-20f, 1e30f, -1e30f};
    for (double value = -10; value <= 10; value += 0.0013) {
      x.push_back(static_cast<float>(value));
    }
    const auto given = x;
    tanh(x.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = std::tanh(static_cast<double>(given[i]));
      ASSERT_NEAR(x[i], expected, 1e-6 * std::abs(expected)) << given[i];
    }
  });
}

// The promise that the encoder builds on: a row is the same whatever rows lie beside it.
TEST(Neural, ARowDoesNotDependOnItsNeighbours) {
  at_every_level([] {
    const size_t columns = 387;
    const size_t rows = 7;
    const auto given = random_floats(rows * columns, 8, 2);
    const auto bias = random_floats(columns, 9);
    auto gelu = given;
    auto norm = given;
    auto soft = given;
    bias_gelu(gelu.data(), bias.data(), rows, columns);
    residual_layer_norm(norm.data(), bias.data(), given.data(), bias.data(), bias.data(), 1e-12f,
                        rows, columns, norm.data());
    softmax(soft.data(), rows, columns, columns, 0.3f);
    for (size_t r = 0; r < rows; ++r) {
      const auto begin = given.begin() + static_cast<std::ptrdiff_t>(r * columns);
      const std::vector<float> row(begin, begin + columns);
      auto alone = row;
      bias_gelu(alone.data(), bias.data(), 1, columns);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), gelu.begin() + (begin - given.begin())));
      alone = row;
      residual_layer_norm(alone.data(), bias.data(), row.data(), bias.data(), bias.data(), 1e-12f,
                          1, columns, alone.data());
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), norm.begin() + (begin - given.begin())));
      alone = row;
      softmax(alone.data(), 1, columns, columns, 0.3f);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), soft.begin() + (begin - given.begin())));
    }
  });
}

}  // namespace
}  // namespace sibyl::simd
