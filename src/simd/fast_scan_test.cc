#include "simd/fast_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "simd/hadamard.h"
#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

struct Scan {
  size_t groups = 0;
  size_t blocks = 0;
  std::vector<uint8_t> codes;  ///< [32 blocks x groups]
  std::vector<uint8_t> table;
  std::vector<uint8_t> packed;
  size_t stride = 0;

  uint32_t sum(size_t code) const {
    uint32_t total = 0;
    for (size_t g = 0; g < groups; ++g) {
      total += table[16 * g + codes[code * groups + g]];
    }
    return total;
  }
};

Scan random_scan(size_t groups, size_t blocks, bool greatest, std::mt19937& random) {
  Scan scan{groups, blocks, {}, {}, {}, fast_scan_block_bytes(groups) + 256};
  scan.codes.resize(kFastScanCodes * blocks * groups);
  scan.table.resize(16 * groups);
  for (uint8_t& code : scan.codes) {
    code = random() % 16;
  }
  for (uint8_t& entry : scan.table) {
    entry = greatest ? kFastScanEntryMax : random() % (kFastScanEntryMax + 1);
  }
  scan.packed.resize(blocks * scan.stride);
  for (size_t b = 0; b < blocks; ++b) {
    fast_scan_pack(scan.codes.data() + b * kFastScanCodes * groups, groups,
                   scan.packed.data() + b * scan.stride);
  }
  return scan;
}

TEST(FastScan, SumsWhatTheCodesLookUp) {
  at_every_level([] {
    std::mt19937 random(1);
    for (const size_t groups : {4, 8, 12, 16, 28, 32, 36, 60, 64, 68, 96, 128, 252}) {
      for (const bool greatest : {false, true}) {
        const Scan scan = random_scan(groups, 3, greatest, random);
        std::vector<uint32_t> sums(3 * kFastScanCodes);
        fast_scan(scan.packed.data(), scan.stride, 3, groups, scan.table.data(), sums.data());
        for (size_t code = 0; code < sums.size(); ++code) {
          ASSERT_EQ(sums[code], scan.sum(code)) << groups;
        }
      }
    }
  });
}

// 8,192 groups of the greatest entry are 253,952, more than 16 bits hold.
TEST(FastScan, TheLongestCodesDoNotOverflow) {
  at_every_level([] {
    std::mt19937 random(2);
    const Scan scan = random_scan(8192, 1, true, random);
    std::vector<uint32_t> sums(kFastScanCodes);
    fast_scan(scan.packed.data(), scan.stride, 1, 8192, scan.table.data(), sums.data());
    EXPECT_EQ(sums, std::vector<uint32_t>(kFastScanCodes, 8192U * kFastScanEntryMax));
  });
}

TEST(FastScan, BoundsFollowTheirFormulaUnderMasks) {
  at_every_level([] {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (const size_t groups : {16, 64, 2060}) {
      constexpr size_t kBlocks = 70;
      Scan scan = random_scan(groups, kBlocks, false, random);
      std::vector<float> factors(kBlocks * 64);
      std::generate(factors.begin(), factors.end(), [&] { return normal(random); });
      factors[5] = std::nanf("");
      for (size_t b = 0; b < kBlocks; ++b) {
        std::memcpy(scan.packed.data() + b * scan.stride + fast_scan_block_bytes(groups),
                    factors.data() + b * 64, 64 * sizeof(float));
      }
      std::vector<float> errors(kBlocks);
      std::generate(errors.begin(), errors.end(), [&] { return std::fabs(normal(random)); });
      const FastScanBlocks blocks{scan.packed.data(), scan.stride, groups, errors.data()};
      const FastScanQuery query{scan.table.data(), {0.25F, -3.0F}, 1.5F, 2.0F};
      std::vector<uint32_t> masks(kBlocks);
      for (uint32_t& mask : masks) {
        const uint32_t kind = random() % 4;
        mask = kind == 0 ? 0 : kind == 1 ? 1U << random() % 32 : kind == 2 ? random() : UINT32_MAX;
      }
      constexpr size_t kFirst = 2;
      constexpr size_t kCount = kBlocks - kFirst;
      for (const bool masked : {false, true}) {
        std::vector<float> bounds(kCount * kFastScanCodes);
        std::vector<float> best(kCount);
        fast_scan_bounds(blocks, kFirst, kCount, query, masked ? masks.data() + kFirst : nullptr,
                         bounds.data(), best.data());
        for (size_t i = 0; i < kCount; ++i) {
          const size_t b = kFirst + i;
          float greatest = -3.4e38F;
          if (masked && masks[b] == 0) {
            EXPECT_TRUE(std::isnan(best[i]));
            continue;
          }
          for (size_t j = 0; j < kFastScanCodes; ++j) {
            const float found = bounds[i * kFastScanCodes + j];
            if (masked && (masks[b] >> j & 1) == 0) {
              EXPECT_TRUE(std::isnan(found));
              continue;
            }
            greatest = found > greatest ? found : greatest;
            if (masked && std::popcount(masks[b]) <= kFastScanFewBits) {
              EXPECT_EQ(found, std::numeric_limits<float>::infinity());
              continue;
            }
            const double sum = scan.sum(b * kFastScanCodes + j);
            const double expected = 1.5 * factors[b * 64 + j] +
                                    factors[b * 64 + 32 + j] * (0.25 * sum - 3 + 2.0 * errors[b]);
            EXPECT_NEAR(found, expected, 1e-5 * (1 + sum));
          }
          EXPECT_EQ(best[i], greatest);
        }
      }
    }
  });
}

TEST(FastScan, AtLeastMarksWhatReachesTheThreshold) {
  at_every_level([] {
    std::vector<float> bounds(kFastScanCodes, 1.0F);
    bounds[0] = 2;
    bounds[7] = std::nanf("");
    bounds[31] = 3;
    EXPECT_EQ(at_least(bounds.data(), 2), 1U | 1U << 31);
    EXPECT_EQ(at_least(bounds.data(), 1), ~(1U << 7));
    EXPECT_EQ(at_least(bounds.data(), -std::numeric_limits<float>::infinity()), ~(1U << 7));
    EXPECT_EQ(at_least(bounds.data(), 4), 0U);
  });
}

// The table stands for sums of signs, up to half a step a group.
TEST(SignTable, StandsForSumsWithTheSignsOfTheCode) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  for (const size_t groups : {4, 24, 96}) {
    for (const float size : {1.0F, 1e-20F, 1e20F}) {
      std::vector<float> query(4 * groups);
      std::vector<float> vector(4 * groups);
      std::generate(query.begin(), query.end(), [&] { return size * normal(random); });
      std::generate(vector.begin(), vector.end(), [&] { return normal(random); });
      std::vector<uint8_t> table(16 * groups);
      std::vector<uint8_t> code(groups);
      const FastScanScale scale = sign_table(query, table.data());
      sign_codes(vector, code.data());
      double expected = 0;
      double sum = 0;
      for (size_t i = 0; i < query.size(); ++i) {
        expected += vector[i] >= 0 ? query[i] : -query[i];
      }
      for (size_t g = 0; g < groups; ++g) {
        EXPECT_LE(table[16 * g + code[g]], kFastScanEntryMax);
        sum += table[16 * g + code[g]];
      }
      EXPECT_NEAR(scale.step * sum + scale.base, expected,
                  scale.step * 0.51 * static_cast<double>(groups));
    }
  }
}

// Zeros, and numbers too small or too great for a step.
TEST(SignTable, HasNoEntriesWhereThereIsNoStep) {
  for (const float value : {0.0F, 1e-44F, 3e38F}) {
    const std::vector<float> query(16, value);
    std::vector<uint8_t> table(64, 99);
    sign_table(query, table.data());
    EXPECT_EQ(table, std::vector<uint8_t>(64, 0));
  }
}

std::vector<uint64_t> random_signs(size_t dimension, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> signs(Rotation::sign_words(dimension));
  std::generate(signs.begin(), signs.end(), [&] { return random(); });
  return signs;
}

TEST(Rotation, KeepsLengthsAndInnerProducts) {
  at_every_level([] {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (const size_t dimension : {64, 128, 192, 256, 320, 384, 512, 768, 1024, 32768}) {
      const auto signs = random_signs(dimension, 6);
      const Rotation rotation(dimension, signs);
      std::vector<float> a(dimension);
      std::vector<float> b(dimension);
      std::generate(a.begin(), a.end(), [&] { return normal(random); });
      std::generate(b.begin(), b.end(), [&] { return normal(random); });
      const auto dot = [](const std::vector<float>& x, const std::vector<float>& y) {
        double sum = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          sum += static_cast<double>(x[i]) * y[i];
        }
        return sum;
      };
      const double before = dot(a, b);
      const double square = dot(a, a);
      rotation.apply(a.data());
      rotation.apply(b.data());
      EXPECT_NEAR(dot(a, a), square, 1e-5 * square);
      EXPECT_NEAR(dot(a, b), before, 1e-5 * square);
    }
  });
}

TEST(Rotation, SpreadsOneCoordinateOverAll) {
  for (const size_t dimension : {64, 384, 768}) {
    const auto signs = random_signs(dimension, 7);
    const Rotation rotation(dimension, signs);
    for (size_t i = 0; i < dimension; i += 13) {
      std::vector<float> unit(dimension, 0.0F);
      unit[i] = 1;
      rotation.apply(unit.data());
      float most = 0;
      for (const float value : unit) {
        most = std::max(most, std::fabs(value));
      }
      EXPECT_LT(most, 10 / std::sqrt(static_cast<float>(dimension)));
    }
  }
}

// Files hold rotated codes: another machine must rotate the query to the same bits.
TEST(Rotation, GivesTheSameBitsAtEveryLevel) {
  std::vector<float> first;
  at_every_level([&first] {
    std::mt19937 random(8);
    std::normal_distribution<float> normal;
    std::vector<float> vector(384);
    std::generate(vector.begin(), vector.end(), [&] { return normal(random); });
    const auto signs = random_signs(384, 9);
    Rotation(384, signs).apply(vector.data());
    if (first.empty()) {
      first = vector;
    }
    EXPECT_EQ(vector, first);
  });
}

}  // namespace
}  // namespace sibyl::simd
