#include "simd/code_distance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "simd/distance.h"
#include "simd/internal/every_level.h"
#include "simd/levels.h"
#include "simd/many_to_many.h"

namespace sibyl::simd {
namespace {

/// Every length up to two registers and a bit, and some long ones.
std::vector<size_t> lengths() {
  std::vector<size_t> all;
  for (size_t length = 0; length <= 130; ++length) {
    all.push_back(length);
  }
  all.insert(all.end(), {255, 256, 384, 1000});
  return all;
}

constexpr size_t kRows = 6;  // a group of four and two single ones

/// Rows at odd addresses, in memory of the exact size, so that a sanitizer sees a read past the
/// end.
template <class T>
struct Table {
  Table(size_t row_elements, size_t gap) : stride(row_elements + gap), elements(row_elements) {
    values.resize(kRows * stride - gap + 1);
  }
  T* row(size_t r) { return values.data() + 1 + r * stride; }
  size_t stride;
  size_t elements;
  std::vector<T> values;
};

enum class Fill { kRandom, kLowest, kHighest };

int8_t byte_of(Fill fill, std::mt19937& random) {
  return fill == Fill::kRandom   ? static_cast<int8_t>(random())
         : fill == Fill::kLowest ? int8_t{-128}
                                 : int8_t{127};
}

void expect_cosine(float found, double dot, double a, double b) {
  const double expected = a == 0 || b == 0 ? 0 : dot / std::sqrt(a * b);
  EXPECT_NEAR(found, expected, 1e-6);
}

TEST(ByteDistance, IsExactForEveryLengthAndExtreme) {
  at_every_level([] {
    std::mt19937 random(1);
    for (const size_t length : lengths()) {
      for (const Fill query_fill : {Fill::kRandom, Fill::kLowest, Fill::kHighest}) {
        for (const Fill row_fill : {Fill::kRandom, Fill::kLowest, Fill::kHighest}) {
          std::vector<int8_t> query(length);
          Table<int8_t> table(length, 3);
          std::generate(query.begin(), query.end(), [&] { return byte_of(query_fill, random); });
          std::generate(table.values.begin(), table.values.end(),
                        [&] { return byte_of(row_fill, random); });
          std::vector<int32_t> dots(kRows);
          std::vector<int32_t> gathered(kRows);
          std::vector<int32_t> squares(kRows);
          std::vector<int32_t> distances(kRows);
          std::vector<float> cosines(kRows);
          std::vector<const int8_t*> rows(kRows);
          for (size_t r = 0; r < kRows; ++r) {
            rows[r] = table.row(r);
          }
          byte_dot_many(query.data(), rows[0], kRows, table.stride, length, dots.data());
          byte_dot_gather(query.data(), rows.data(), kRows, length, gathered.data());
          byte_square_many(rows[0], kRows, table.stride, length, squares.data());
          byte_squared_l2_many(query.data(), rows[0], kRows, table.stride, length,
                               distances.data());
          byte_cosine_many(query.data(), rows[0], kRows, table.stride, length, cosines.data());
          for (size_t r = 0; r < kRows; ++r) {
            int32_t dot = 0;
            int32_t square = 0;
            int32_t query_square = 0;
            for (size_t i = 0; i < length; ++i) {
              dot += query[i] * rows[r][i];
              square += rows[r][i] * rows[r][i];
              query_square += query[i] * query[i];
            }
            ASSERT_EQ(dots[r], dot) << length;
            ASSERT_EQ(gathered[r], dot) << length;
            ASSERT_EQ(squares[r], square) << length;
            ASSERT_EQ(distances[r], query_square + square - 2 * dot) << length;
            expect_cosine(cosines[r], dot, query_square, square);
          }
        }
      }
    }
  });
}

TEST(ByteDistance, TheLargestDimensionDoesNotOverflow) {
  at_every_level([] {
    const std::vector<int8_t> low(32768, -128);
    const std::vector<int8_t> high(32768, 127);
    int32_t out = 0;
    byte_dot_many(low.data(), low.data(), 1, 32768, 32768, &out);
    EXPECT_EQ(out, 128 * 128 * 32768);
    byte_dot_many(low.data(), high.data(), 1, 32768, 32768, &out);
    EXPECT_EQ(out, -128 * 127 * 32768);
    byte_squared_l2_many(low.data(), high.data(), 1, 32768, 32768, &out);
    EXPECT_EQ(out, 255 * 255 * 32768);
  });
}

TEST(NibbleDistance, IsExactForEveryLengthAndExtreme) {
  at_every_level([] {
    std::mt19937 random(2);
    for (const size_t length : lengths()) {
      for (const Fill fill : {Fill::kRandom, Fill::kLowest, Fill::kHighest}) {
        std::vector<int8_t> query(length);
        std::generate(query.begin(), query.end(), [&] { return byte_of(fill, random); });
        std::vector<uint8_t> numbers(kRows * length);
        for (uint8_t& number : numbers) {
          number = fill == Fill::kRandom ? random() % 16 : 15;
        }
        Table<uint8_t> table(nibble_bytes(length), 5);
        for (size_t r = 0; r < kRows; ++r) {
          nibble_pack(numbers.data() + r * length, length, table.row(r));
        }
        std::vector<int32_t> dots(kRows);
        std::vector<int32_t> squares(kRows);
        std::vector<int32_t> distances(kRows);
        std::vector<float> cosines(kRows);
        nibble_dot_many(query.data(), table.row(0), kRows, table.stride, length, dots.data());
        nibble_square_many(table.row(0), kRows, table.stride, length, squares.data());
        nibble_squared_l2_many(query.data(), table.row(0), kRows, table.stride, length,
                               distances.data());
        nibble_cosine_many(query.data(), table.row(0), kRows, table.stride, length, cosines.data());
        for (size_t r = 0; r < kRows; ++r) {
          int32_t dot = 0;
          int32_t square = 0;
          int32_t query_square = 0;
          for (size_t i = 0; i < length; ++i) {
            const int32_t number = numbers[r * length + i];
            dot += query[i] * number;
            square += number * number;
            query_square += query[i] * query[i];
          }
          ASSERT_EQ(dots[r], dot) << length;
          ASSERT_EQ(squares[r], square) << length;
          ASSERT_EQ(distances[r], query_square + square - 2 * dot) << length;
          expect_cosine(cosines[r], dot, query_square, square);
        }
      }
    }
  });
}

TEST(NibbleDistance, TheLargestDimensionDoesNotOverflow) {
  at_every_level([] {
    const std::vector<int8_t> query(32768, -128);
    const std::vector<uint8_t> row(nibble_bytes(32768), 255);
    int32_t out = 0;
    nibble_dot_many(query.data(), row.data(), 1, row.size(), 32768, &out);
    EXPECT_EQ(out, -128 * 15 * 32768);
  });
}

TEST(BitDistance, CountsEveryBit) {
  at_every_level([] {
    std::mt19937 random(3);
    for (size_t length = 0; length <= 1100; length = length < 530 ? length + 1 : length + 37) {
      for (const Fill fill : {Fill::kRandom, Fill::kHighest}) {
        const size_t bytes = (length + 7) / 8;
        std::vector<uint8_t> query(bytes);
        Table<uint8_t> table(bytes, 2);
        const auto draw = [&](uint8_t* to) {
          for (size_t i = 0; i < bytes; ++i) {
            to[i] = fill == Fill::kRandom ? static_cast<uint8_t>(random()) : 255;
          }
          if (length % 8 != 0) {
            to[bytes - 1] = static_cast<uint8_t>(to[bytes - 1] & ((1 << length % 8) - 1));
          }
        };
        draw(query.data());
        for (size_t r = 0; r < kRows; ++r) {
          draw(table.row(r));
        }
        std::vector<int32_t> distances(kRows);
        std::vector<int32_t> dots(kRows);
        std::vector<float> cosines(kRows);
        bit_distance_many(query.data(), table.row(0), kRows, table.stride, length,
                          distances.data());
        bit_dot_many(query.data(), table.row(0), kRows, table.stride, length, dots.data());
        bit_cosine_many(query.data(), table.row(0), kRows, table.stride, length, cosines.data());
        for (size_t r = 0; r < kRows; ++r) {
          int32_t differ = 0;
          int32_t common = 0;
          int32_t query_bits = 0;
          int32_t row_bits = 0;
          for (size_t i = 0; i < bytes; ++i) {
            const uint8_t q = query[i];
            const uint8_t b = table.row(r)[i];
            differ += std::popcount(static_cast<uint8_t>(q ^ b));
            common += std::popcount(static_cast<uint8_t>(q & b));
            query_bits += std::popcount(q);
            row_bits += std::popcount(b);
          }
          ASSERT_EQ(distances[r], differ) << length;
          ASSERT_EQ(dots[r], common) << length;
          expect_cosine(cosines[r], common, query_bits, row_bits);
        }
      }
    }
  });
}

float half_to_float(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                     : exponent == 31
                         ? (mantissa == 0 ? std::numeric_limits<float>::infinity() : std::nanf(""))
                         : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

TEST(HalfDistance, AgreesWithPlainLoopsInEveryLength) {
  at_every_level([] {
    std::mt19937 random(4);
    std::normal_distribution<float> normal;
    for (const size_t length : lengths()) {
      for (const bool denormal : {false, true}) {
        std::vector<float> query(length);
        std::generate(query.begin(), query.end(), [&] { return normal(random); });
        Table<uint16_t> table(length, 3);
        for (uint16_t& value : table.values) {
          // Up to 2 in size, or the smallest numbers that float16 has.
          value = static_cast<uint16_t>(denormal ? random() % 1024
                                                 : (random() & 0x8000) | random() % 0x4000);
        }
        std::vector<float> dots(kRows);
        std::vector<float> distances(kRows);
        std::vector<float> squares(kRows);
        std::vector<float> cosines(kRows);
        half_dot_many(query.data(), table.row(0), kRows, table.stride, length, dots.data());
        half_squared_l2_many(query.data(), table.row(0), kRows, table.stride, length,
                             distances.data());
        half_square_many(table.row(0), kRows, table.stride, length, squares.data());
        half_cosine_many(query.data(), table.row(0), kRows, table.stride, length, cosines.data());
        for (size_t r = 0; r < kRows; ++r) {
          double dot = 0;
          double size = 0;
          double distance = 0;
          double square = 0;
          double query_square = 0;
          for (size_t i = 0; i < length; ++i) {
            const double value = half_to_float(table.row(r)[i]);
            dot += query[i] * value;
            size += std::fabs(query[i] * value);
            distance += (query[i] - value) * (query[i] - value);
            square += value * value;
            query_square += static_cast<double>(query[i]) * query[i];
          }
          EXPECT_NEAR(dots[r], dot, 1e-5 * size + 1e-12) << length;
          EXPECT_NEAR(distances[r], distance, 1e-5 * distance + 1e-12) << length;
          EXPECT_NEAR(squares[r], square, 1e-5 * square) << length;
          expect_cosine(cosines[r], dot, query_square, square);
        }
      }
    }
  });
}

TEST(HalfDistance, InfinityAndNaNAreSeenWhereverTheyStand) {
  at_every_level([] {
    for (const size_t at : {0, 15, 31, 32, 64, 98}) {
      const std::vector<float> query(99, 1.0F);
      std::vector<uint16_t> row(99, 0x3C00);
      float out = 0;
      row[at] = 0x7C00;
      half_dot_many(query.data(), row.data(), 1, 99, 99, &out);
      EXPECT_EQ(out, std::numeric_limits<float>::infinity());
      half_squared_l2_many(query.data(), row.data(), 1, 99, 99, &out);
      EXPECT_EQ(out, std::numeric_limits<float>::infinity());
      row[at] = 0x7E00;
      half_dot_many(query.data(), row.data(), 1, 99, 99, &out);
      EXPECT_TRUE(std::isnan(out));
    }
  });
}

TEST(CosineMany, IsTheCosineAndZeroForZeros) {
  at_every_level([] {
    const std::vector<float> query = {1, 2, 2};
    std::vector<float> base(40 * 3, 0.0F);
    base[3] = 4;
    base[39 * 3 + 1] = -5;
    std::vector<float> out(40);
    cosine_many(query.data(), base.data(), 40, 3, 3, out.data());
    EXPECT_EQ(out[0], 0);
    EXPECT_NEAR(out[1], 1.0 / 3, 1e-6);
    EXPECT_NEAR(out[39], -2.0 / 3, 1e-6);
  });
}

TEST(KernelLevels, CanBeChosenByTheirNames) {
  const std::vector<std::string> levels = kernel_levels();
  ASSERT_FALSE(levels.empty());
  for (const std::string& level : levels) {
    EXPECT_TRUE(choose_kernels(level)) << level;
    EXPECT_TRUE(level.starts_with(kernel_name())) << level;
  }
  EXPECT_FALSE(choose_kernels("MMX"));
  EXPECT_TRUE(choose_kernels(levels.front()));
}

TEST(ManyToMany, GivesTheBitsOfTheKernelAlone) {
  at_every_level([] {
    std::mt19937 random(5);
    constexpr size_t kDimension = 100;
    constexpr size_t kBase = 700;  // more than a tile
    std::vector<int8_t> queries(5 * (kDimension + 1));
    std::vector<int8_t> base(kBase * (kDimension + 2));
    std::generate(queries.begin(), queries.end(), [&] { return static_cast<int8_t>(random()); });
    std::generate(base.begin(), base.end(), [&] { return static_cast<int8_t>(random()); });
    std::vector<int32_t> out(5 * (kBase + 3), 7);
    many_to_many(byte_dot_many, queries.data(), 5, kDimension + 1, base.data(), kBase,
                 kDimension + 2, kDimension, out.data(), kBase + 3);
    std::vector<int32_t> alone(kBase);
    for (size_t q = 0; q < 5; ++q) {
      byte_dot_many(queries.data() + q * (kDimension + 1), base.data(), kBase, kDimension + 2,
                    kDimension, alone.data());
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), out.begin() + q * (kBase + 3)));
    }
    EXPECT_EQ(out[kBase], 7);  // the gap is left alone
  });
}

}  // namespace
}  // namespace sibyl::simd
