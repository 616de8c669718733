#include "simd/neighbour_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

struct ScanCase {
  size_t groups;
  std::vector<uint8_t> codes;   // [groups x 32]
  std::vector<uint8_t> packed;  // and what may be read beyond
  std::vector<uint8_t> room;
  uint8_t* entries;
  std::array<uint16_t, kScanLanes> add;
  std::array<uint16_t, kScanLanes> scale;
};

ScanCase make_case(size_t groups, int entry_min, std::mt19937& random) {
  ScanCase made;
  made.groups = groups;
  made.codes.resize(groups * kScanLanes);
  for (uint8_t& code : made.codes) {
    code = static_cast<uint8_t>(random() % 16);
  }
  const size_t read = (groups + kScanGroupsStep - 1) / kScanGroupsStep * kScanGroupsStep * 16;
  made.packed.resize(read, 0xFF);
  scan_pack(made.codes.data(), groups, made.packed.data());
  made.room.resize(read + 64, 0);
  made.entries = made.room.data() + (64 - reinterpret_cast<uintptr_t>(made.room.data()) % 64) % 64;
  for (size_t i = 0; i < groups * 16; ++i) {
    made.entries[i] =
        static_cast<uint8_t>(entry_min + static_cast<int>(random() % (256 - entry_min)));
  }
  for (size_t i = 0; i < kScanLanes; ++i) {
    made.add[i] = to_float16(static_cast<float>(random() % 1000) / 100.0F - 5);
    made.scale[i] = to_float16(static_cast<float>(random() % 1000) / 1000.0F - 0.9F);
  }
  return made;
}

TEST(NeighbourScan, EqualsAPlainLoopAtEveryLevel) {
  at_every_level([] {
    std::mt19937 random(3);
    for (const size_t groups : {1U, 3U, 4U, 7U, 25U, 96U, 256U}) {
      for (const int entry_min : {0, 255}) {  // 255: the greatest sums
        const ScanCase made = make_case(groups, entry_min, random);
        const ScanTable table{made.entries, groups, 0.01F, -0.5F};
        std::array<float, kScanLanes> out;
        const float base = 2.25F;
        const float threshold = 2.0F;
        const uint32_t bits = scan_neighbours(table, made.packed.data(), made.add.data(),
                                              made.scale.data(), base, threshold, out.data());
        for (size_t i = 0; i < kScanLanes; ++i) {
          float sum = 0;
          for (size_t g = 0; g < groups; ++g) {
            sum += made.entries[g * 16 + made.codes[g * kScanLanes + i]];
          }
          const float want =
              base + from_float16(made.add[i]) + from_float16(made.scale[i]) * (sum * 0.01F - 0.5F);
          EXPECT_NEAR(out[i], want, 1e-5F * (1 + std::fabs(sum)));
          EXPECT_EQ((bits >> i & 1U) != 0, out[i] < threshold);
        }
      }
    }
  });
}

TEST(NeighbourScan, FindsTheNearestCentroid) {
  at_every_level([] {
    std::mt19937 random(9);
    std::normal_distribution<float> normal;
    for (const size_t size : {1U, 2U, 4U}) {
      std::vector<float> points(size * kScanLanes);
      std::vector<float> centroids(size * 16);
      for (float& value : points) {
        value = normal(random);
      }
      for (float& value : centroids) {
        value = normal(random);
      }
      std::array<uint8_t, kScanLanes> codes;
      nearest_of_16(points.data(), centroids.data(), size, codes.data());
      for (size_t i = 0; i < kScanLanes; ++i) {
        std::array<float, 16> distances{};
        for (size_t j = 0; j < 16; ++j) {
          for (size_t c = 0; c < size; ++c) {
            distances[j] += std::pow(points[c * kScanLanes + i] - centroids[j * size + c], 2.0F);
          }
        }
        EXPECT_FLOAT_EQ(distances[codes[i]], *std::min_element(distances.begin(), distances.end()));
      }
    }
  });
}

TEST(NeighbourScan, WideDotIsExactWithExtremes) {
  at_every_level([] {
    std::mt19937 random(5);
    for (const size_t dimension : {1U, 31U, 32U, 100U, 384U, 32768U}) {
      const size_t room = (dimension + kWideDotStep - 1) / kWideDotStep * kWideDotStep;
      for (const bool extreme : {false, true}) {
        std::vector<int16_t> query(room, 0);
        std::vector<int8_t> bytes(room, 77);
        int64_t want = 0;
        const int most = static_cast<int>(std::min<size_t>(32767, (size_t{1} << 24) / dimension));
        for (size_t i = 0; i < dimension; ++i) {
          query[i] = static_cast<int16_t>(
              extreme ? most : static_cast<int>(random() % (2 * most + 1)) - most);
          bytes[i] = static_cast<int8_t>(extreme ? -128 : static_cast<int>(random() % 256) - 128);
          want += int64_t{query[i]} * bytes[i];
        }
        EXPECT_EQ(wide_dot(query.data(), bytes.data(), dimension), want) << dimension;
      }
    }
  });
}

TEST(NeighbourScan, Float16RoundsToTheNearestAndClamps) {
  EXPECT_EQ(to_float16(1.0F), 0x3C00);
  EXPECT_EQ(to_float16(-2.0F), 0xC000);
  EXPECT_EQ(to_float16(1e9F), 0x7BFF);
  EXPECT_EQ(to_float16(-1e9F), 0xFBFF);
  EXPECT_EQ(to_float16(5.9604645e-8F), 1);
  EXPECT_EQ(to_float16(0.0F), 0);
  EXPECT_TRUE(std::isinf(from_float16(0x7C00)));
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    EXPECT_EQ(to_float16(from_float16(static_cast<uint16_t>(bits))), bits);
  }
}

}  // namespace
}  // namespace sibyl::simd
