#include "store/internal/tail_codes.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"
#include "simd/distance.h"

namespace sibyl::store {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

std::vector<float> random_vector(base::Random& random, size_t dimension, double scale) {
  std::vector<float> vector(dimension);
  for (float& value : vector) {
    value = static_cast<float>(random.normal() * scale);
  }
  return vector;
}

/// Every row that reaches a floor is named, whatever the numbers; `named` counts all that are.
size_t expect_bounds_hold(const TailBlockCodes& codes, const std::vector<std::vector<float>>& rows,
                          const std::vector<float>& query) {
  const size_t dimension = query.size();
  std::vector<float> best;
  for (const std::vector<float>& row : rows) {
    best.push_back(kNone);
    for (size_t at = 0; at < row.size(); at += dimension) {
      best.back() = std::max(best.back(), simd::dot(query.data(), row.data() + at, dimension));
    }
  }
  std::vector<float> floors = best;
  std::sort(floors.rbegin(), floors.rend());
  const TailQuery coded(query);
  std::vector<uint32_t> named;
  codes.may_reach(coded, floors[9], named);
  EXPECT_TRUE(std::is_sorted(named.begin(), named.end()));
  for (uint32_t row = 0; row < rows.size(); ++row) {
    if (best[row] >= floors[9] && !rows[row].empty()) {
      EXPECT_TRUE(std::binary_search(named.begin(), named.end(), row)) << "row " << row;
    }
  }
  return named.size();
}

TEST(TailCodes, NameEveryRowThatMayBeAmongTheBest) {
  base::Random random(3);
  for (const size_t dimension : {1U, 7U, 64U, 384U}) {
    for (const double scale : {1e-44, 1e-30, 1.0, 1e18}) {
      TailBlockCodes codes(dimension);
      std::vector<std::vector<float>> rows;
      for (size_t i = 0; i < 64; ++i) {
        const size_t parts = random.below(4);
        rows.push_back(random_vector(random, dimension * parts, scale));
        codes.add_row(rows.back());
      }
      rows[5].assign(rows[5].size(), 0.0F);
      expect_bounds_hold(codes, rows, random_vector(random, dimension, 1));
      expect_bounds_hold(codes, rows, random_vector(random, dimension, 1e-44));
      expect_bounds_hold(codes, rows, std::vector<float>(dimension, 0.0F));
    }
  }
}

TEST(TailCodes, LeaveMostRowsOut) {
  base::Random random(4);
  TailBlockCodes codes(384);
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < 64; ++i) {
    rows.push_back(random_vector(random, 384, 1));
    codes.add_row(rows.back());
  }
  size_t named = 0;
  for (int i = 0; i < 20; ++i) {
    named += expect_bounds_hold(codes, rows, random_vector(random, 384, 1));
  }
  EXPECT_LE(named, 20U * 20) << "of 64 a question, of which 10 are the best";
}

TEST(TailCodes, NameWhatTheyCannotJudge) {
  constexpr float kMost = std::numeric_limits<float>::max();
  TailBlockCodes codes(2);
  codes.add_row(std::vector<float>{kMost, kMost});
  codes.add_row(std::vector<float>{1, 1});
  codes.add_row({});
  std::vector<uint32_t> named;
  codes.may_reach(TailQuery(std::vector<float>{kMost, -kMost}), 5, named);
  ASSERT_FALSE(named.empty());
  EXPECT_EQ(named.front(), 0U);
}

}  // namespace
}  // namespace sibyl::store
