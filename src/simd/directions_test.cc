#include "simd/directions.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

TEST(Directions, CodesAreThoseOfAPlainLoop) {
  at_every_level([] {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    const std::vector<float> kinds = {0.0F, -0.0F, NAN, std::numeric_limits<float>::infinity(),
                                      -std::numeric_limits<float>::infinity()};
    for (size_t count = 0; count < 40; ++count) {
      std::vector<float> origin(kDirections);
      std::vector<float> others(count * kDirections);
      for (float& value : origin) {
        value = normal(random);
      }
      origin[count % kDirections] = kinds[count % kinds.size()];
      for (size_t i = 0; i < others.size(); ++i) {
        others[i] = random() % 4 == 0   ? origin[i % kDirections]
                    : random() % 8 == 0 ? kinds[random() % kinds.size()]
                                        : normal(random);
      }
      std::vector<uint8_t> codes(count);
      direction_codes(origin.data(), others.data(), count, codes.data());
      for (size_t i = 0; i < count; ++i) {
        for (size_t b = 0; b < kDirections; ++b) {
          ASSERT_EQ((codes[i] >> b & 1) != 0, others[i * kDirections + b] > origin[b])
              << count << " " << i << " " << b;
        }
      }
    }
  });
}

}  // namespace
}  // namespace sibyl::simd
