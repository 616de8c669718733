#include "simd/matrix_distance.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "simd/distance.h"
#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

struct Packed {
  std::vector<float> rows;
  std::vector<float> panels;
  std::vector<float> norms;
  size_t panel_count = 0;
};

/// Rows around `offset`, packed around 0.
Packed random_packed(size_t count, size_t dimension, uint32_t seed, float offset = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Packed packed;
  packed.panel_count = (count + kPanelRows - 1) / kPanelRows;
  packed.rows.resize(count * dimension);
  for (float& value : packed.rows) {
    value = normal(random) + offset;
  }
  const std::vector<float> centre(dimension, offset);
  packed.panels.resize(packed.panel_count * kPanelRows * dimension, -1.0F);
  packed.norms.resize(packed.panel_count * kPanelRows);
  for (size_t first = 0; first < count; first += kPanelRows) {
    std::vector<const float*> pointers;
    for (size_t r = first; r < std::min(count, first + kPanelRows); ++r) {
      pointers.push_back(packed.rows.data() + r * dimension);
      packed.norms[r] = squared_l2(pointers.back(), centre.data(), dimension);
    }
    pack_panel(pointers.data(), pointers.size(), centre.data(), dimension,
               packed.panels.data() + first * dimension);
  }
  return packed;
}

std::vector<float> distances_of(const Packed& a, const Packed& b, size_t dimension) {
  const size_t stride = b.panel_count * kPanelRows;
  std::vector<float> out(a.panel_count * kPanelRows * stride, -1.0F);
  for (size_t panel = 0; panel < a.panel_count; ++panel) {
    panel_distances(a.panels.data() + panel * kPanelRows * dimension,
                    a.norms.data() + panel * kPanelRows, b.panels.data(), b.norms.data(),
                    b.panel_count, dimension, out.data() + panel * kPanelRows * stride, stride);
  }
  return out;
}

TEST(MatrixDistance, AgreesWithThePlainSquaredDistanceInEveryShape) {
  at_every_level([] {
    for (const size_t dimension : {1, 2, 7, 16, 31, 100, 385}) {
      for (const size_t count : {1, 15, 16, 17, 33, 50}) {
        const Packed a = random_packed(count, dimension, 1, 50);
        const Packed b = random_packed(count + 3, dimension, 2, 50);
        const auto out = distances_of(a, b, dimension);
        for (size_t i = 0; i < count; ++i) {
          for (size_t j = 0; j < count + 3; ++j) {
            const float expected =
                squared_l2(a.rows.data() + i * dimension, b.rows.data() + j * dimension, dimension);
            ASSERT_NEAR(out[i * b.panel_count * kPanelRows + j], expected,
                        1e-5 * (1 + static_cast<double>(dimension)));
          }
        }
      }
    }
  });
}

TEST(MatrixDistance, APairHasTheSameBitsInEitherOrderAndEveryPlace) {
  at_every_level([] {
    constexpr size_t kDimension = 100;
    const Packed a = random_packed(48, kDimension, 1);
    Packed shifted = a;
    shifted.panel_count = 1;
    std::vector<const float*> pointers;
    for (size_t r = 0; r < kPanelRows; ++r) {
      pointers.push_back(a.rows.data() + (r + 5) * kDimension);
      shifted.norms[r] = a.norms[r + 5];
    }
    const std::vector<float> centre(kDimension);
    pack_panel(pointers.data(), pointers.size(), centre.data(), kDimension, shifted.panels.data());
    const auto whole = distances_of(a, a, kDimension);
    const auto part = distances_of(a, shifted, kDimension);
    for (size_t i = 0; i < 48; ++i) {
      for (size_t j = 0; j < 48; ++j) {
        ASSERT_EQ(whole[i * 48 + j], whole[j * 48 + i]);
      }
      for (size_t j = 0; j < kPanelRows; ++j) {
        ASSERT_EQ(part[i * kPanelRows + j], whole[i * 48 + j + 5]);
      }
    }
  });
}

TEST(MatrixDistance, EqualRowsAndOverflowNeverGiveLessThanZeroOrNotANumber) {
  at_every_level([] {
    for (const float value : {0.1F, 1e10F, 3e38F}) {
      const std::vector<float> row(33, value);
      const std::vector<const float*> pointers(kPanelRows, row.data());
      std::vector<float> panel(33 * kPanelRows);
      const std::vector<float> centre(33);
      pack_panel(pointers.data(), pointers.size(), centre.data(), 33, panel.data());
      const std::vector<float> norms(kPanelRows, dot(row.data(), row.data(), 33));
      std::vector<float> out(kPanelRows * kPanelRows, -1.0F);
      panel_distances(panel.data(), norms.data(), panel.data(), norms.data(), 1, 33, out.data(),
                      kPanelRows);
      for (const float distance : out) {
        ASSERT_GE(distance, 0.0F);
      }
    }
  });
}

TEST(MatrixDistance, PlacesBelowAreThoseOfAPlainLoop) {
  at_every_level([] {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> uniform;
    for (size_t count = 0; count < 70; ++count) {
      std::vector<float> values(count);
      for (float& value : values) {
        value = uniform(random);
      }
      for (const float bound : {0.0F, 0.1F, 0.5F, 2.0F, std::numeric_limits<float>::infinity()}) {
        std::vector<uint32_t> expected;
        for (size_t i = 0; i < count; ++i) {
          if (values[i] < bound) {
            expected.push_back(static_cast<uint32_t>(i));
          }
        }
        std::vector<uint32_t> places(count + 16);
        places.resize(places_below(values.data(), count, bound, places.data()));
        ASSERT_EQ(places, expected);
      }
    }
  });
}

}  // namespace
}  // namespace sibyl::simd
