#include "simd/scan_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

std::vector<float> normal_numbers(size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  std::generate(numbers.begin(), numbers.end(), [&] { return normal(random); });
  return numbers;
}

TEST(ScanTable, GreatestMagnitudeIsFoundWhereverItStands) {
  at_every_level([] {
    EXPECT_EQ(greatest_magnitude(nullptr, 0), 0);
    for (const size_t count : {1U, 7U, 16U, 33U, 384U}) {
      for (size_t at = 0; at < count; ++at) {
        std::vector<float> numbers(count, 0.25F);
        numbers[at] = at % 2 == 0 ? -3.5F : 3.5F;
        ASSERT_EQ(greatest_magnitude(numbers.data(), count), 3.5F) << count << " at " << at;
      }
    }
  });
}

TEST(ScanTable, NumbersAreRoundedToTheNearestAndCut) {
  at_every_level([] {
    std::mt19937 random(2);
    for (const size_t count : {1U, 15U, 16U, 50U, 384U}) {
      std::vector<float> numbers = normal_numbers(count, random);
      numbers.back() = 1e6F;
      numbers.front() = count == 1 ? 1e6F : -1e6F;
      std::vector<int16_t> shorts(count);
      std::vector<int8_t> bytes(count);
      round_to_shorts(numbers.data(), count, 1000, shorts.data());
      round_to_bytes(numbers.data(), count, 40, bytes.data());
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(shorts[i], std::clamp(std::nearbyint(numbers[i] * 1000), -32768.0F, 32767.0F));
        EXPECT_EQ(bytes[i], std::clamp(std::nearbyint(numbers[i] * 40), -128.0F, 127.0F));
      }
    }
  });
}

TEST(ScanTable, WhatIsNoNumberIsRoundedToTheLeast) {
  at_every_level([] {
    for (const size_t count : {1, 7, 16, 37}) {
      const std::vector<float> numbers(count, 0.0F);
      std::vector<int16_t> shorts(count);
      std::vector<int8_t> bytes(count);
      const float infinity = std::numeric_limits<float>::infinity();
      round_to_shorts(numbers.data(), count, infinity, shorts.data());
      round_to_bytes(numbers.data(), count, infinity, bytes.data());
      EXPECT_EQ(shorts, std::vector<int16_t>(count, -32768));
      EXPECT_EQ(bytes, std::vector<int8_t>(count, -128));
    }
  });
}

TEST(ScanTable, EntriesStandForTheProductsWithCentroids) {
  at_every_level([] {
    std::mt19937 random(7);
    const std::vector<uint8_t> sizes = {1, 1, 2, 4, 4};
    const std::vector<float> numbers = normal_numbers(12, random);
    const std::vector<float> columns = normal_numbers(12 * 16, random);
    std::vector<float> products(sizes.size() * 16);
    alignas(64) std::array<uint8_t, 128> entries;
    entries.fill(99);
    const ScanTable table = make_scan_table({columns.data(), sizes.data(), sizes.size()},
                                            numbers.data(), products.data(), entries.data());
    EXPECT_EQ(table.entries, entries.data());
    EXPECT_EQ(table.groups, sizes.size());
    float offset = 0;
    float widest = 0;
    size_t number = 0;
    for (size_t g = 0; g < sizes.size(); ++g) {
      std::array<float, 16> want{};
      for (size_t c = 0; c < sizes[g]; ++c, ++number) {
        for (size_t j = 0; j < 16; ++j) {
          want[j] += numbers[number] * columns[number * 16 + j];
        }
      }
      const auto [low, high] = std::minmax_element(want.begin(), want.end());
      offset += *low;
      widest = std::max(widest, *high - *low);
      for (size_t j = 0; j < 16; ++j) {
        EXPECT_NEAR(*low + table.step * entries[g * 16 + j], want[j], 0.5001F * table.step + 1e-5F);
      }
    }
    EXPECT_NEAR(table.offset, offset, 1e-4F);
    EXPECT_NEAR(table.step, widest / 255, 1e-6F);
    EXPECT_TRUE(std::all_of(entries.begin() + 80, entries.end(), [](int i) { return i == 99; }));
  });
}

TEST(ScanTable, EqualProductsGiveATableOfZeros) {
  at_every_level([] {
    const std::array<uint8_t, 2> sizes = {1, 2};
    const std::array<float, 3> numbers = {0.5F, 0, 0};
    std::array<float, 48> columns{};
    std::fill_n(columns.begin(), 16, 3.0F);
    std::array<float, 32> products{};
    alignas(64) std::array<uint8_t, 64> entries;
    const ScanTable table = make_scan_table({columns.data(), sizes.data(), 2}, numbers.data(),
                                            products.data(), entries.data());
    EXPECT_EQ(table.step, 0);
    EXPECT_EQ(table.offset, 1.5F);
    EXPECT_TRUE(std::all_of(entries.begin(), entries.begin() + 32, [](int i) { return i == 0; }));
  });
}

}  // namespace
}  // namespace sibyl::simd
