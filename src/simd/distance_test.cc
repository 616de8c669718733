#include "simd/distance.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

constexpr size_t kDimensions[] = {0,  1,  2,  3,  7,   8,   9,   15,  16,  17,  31,  32,
                                  33, 63, 64, 65, 100, 127, 128, 384, 385, 768, 1000};

std::vector<float> random_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

double plain_dot(const float* a, const float* b, size_t dimension) {
  double sum = 0;
  for (size_t i = 0; i < dimension; ++i) {
    sum += static_cast<double>(a[i]) * b[i];
  }
  return sum;
}

double plain_l2(const float* a, const float* b, size_t dimension) {
  double sum = 0;
  for (size_t i = 0; i < dimension; ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return sum;
}

TEST(Distance, AgreesWithPlainLoopsInEveryDimension) {
  at_every_level([] {
    for (const size_t dimension : kDimensions) {
      // Exactly sized, so that a sanitizer sees a read past the end.
      const auto a = random_floats(dimension, 1);
      const auto b = random_floats(dimension, 2);
      const double tolerance = 1e-5 * (1 + static_cast<double>(dimension));
      EXPECT_NEAR(dot(a.data(), b.data(), dimension), plain_dot(a.data(), b.data(), dimension),
                  tolerance);
      EXPECT_NEAR(squared_l2(a.data(), b.data(), dimension),
                  plain_l2(a.data(), b.data(), dimension), tolerance);
    }
  });
}

// Ranking must not depend on how many rows were asked for together.
TEST(Distance, ManyRowsGiveTheSameBitsAsOne) {
  at_every_level([] {
    for (const size_t dimension : kDimensions) {
      const size_t stride = dimension + 3;
      const auto query = random_floats(dimension, 3);
      const auto base = random_floats(11 * stride, 4);
      for (size_t rows = 0; rows <= 11; ++rows) {
        std::vector<float> dots(rows);
        std::vector<float> distances(rows);
        dot_many(query.data(), base.data(), rows, stride, dimension, dots.data());
        squared_l2_many(query.data(), base.data(), rows, stride, dimension, distances.data());
        for (size_t r = 0; r < rows; ++r) {
          const float* row = base.data() + r * stride;
          EXPECT_EQ(dots[r], dot(query.data(), row, dimension));
          EXPECT_EQ(dots[r], dot(row, query.data(), dimension));
          EXPECT_EQ(distances[r], squared_l2(query.data(), row, dimension));
        }
      }
    }
  });
}

TEST(Distance, InfinityAndNaNAreSeenWhereverTheyStand) {
  at_every_level([] {
    for (const size_t at : {0, 15, 63, 64, 99}) {
      std::vector<float> a(100, 1.0f);
      const std::vector<float> b(100, 1.0f);
      a[at] = std::numeric_limits<float>::infinity();
      EXPECT_EQ(dot(a.data(), b.data(), 100), std::numeric_limits<float>::infinity());
      EXPECT_EQ(squared_l2(a.data(), b.data(), 100), std::numeric_limits<float>::infinity());
      a[at] = std::nanf("");
      EXPECT_TRUE(std::isnan(dot(a.data(), b.data(), 100)));
    }
  });
}

TEST(Distance, NormalizeGivesUnitLengthAndTheOldOne) {
  at_every_level([] {
    for (const float size : {1e-30f, 1e-12f, 1.0f, 1e12f, 1e30f}) {
      std::vector<float> vector = {3 * size, 0, 4 * size};
      EXPECT_NEAR(normalize(vector.data(), 3) / size, 5, 1e-5);
      EXPECT_NEAR(vector[0], 0.6f, 1e-6);
      EXPECT_NEAR(vector[2], 0.8f, 1e-6);
    }
    std::vector<float> zero(37, 0.0f);
    EXPECT_EQ(normalize(zero.data(), 37), 0);
    EXPECT_EQ(zero, std::vector<float>(37, 0.0f));
  });
}

TEST(Distance, KernelNameIsThatOfTheLevel) {
  std::set<std::string> names;
  at_every_level([&names] { names.emplace(kernel_name()); });
  EXPECT_EQ(names.size(), hwy::SupportedAndGeneratedTargets().size());
  EXPECT_EQ(kernel_name(), hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()));
}

}  // namespace
}  // namespace sibyl::simd
