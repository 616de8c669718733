#include "encoder/internal/pooling.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace sibyl::encoder {
namespace {

using model::PoolingMode;

const std::vector<float> kTokens = {1, -2, 3, 4, -1, 0};  // three tokens of two values

std::vector<float> pooled(std::vector<PoolingMode> modes, size_t skipped = 0,
                          bool include_prompt = true) {
  std::vector<float> out(modes.size() * 2);
  pool_tokens({std::move(modes), include_prompt}, kTokens.data(), 3, 2, skipped, out.data());
  return out;
}

TEST(Pooling, KnowsEveryMode) {
  EXPECT_EQ(pooled({PoolingMode::Cls}), (std::vector<float>{1, -2}));
  EXPECT_EQ(pooled({PoolingMode::LastToken}), (std::vector<float>{-1, 0}));
  EXPECT_EQ(pooled({PoolingMode::Max}), (std::vector<float>{3, 4}));
  EXPECT_EQ(pooled({PoolingMode::Mean}), (std::vector<float>{1, 2.0F / 3}));
  EXPECT_EQ(pooled({PoolingMode::MeanSqrtLength}),
            (std::vector<float>{3 / std::sqrt(3.0F), 2 / std::sqrt(3.0F)}));
  EXPECT_EQ(pooled({PoolingMode::WeightedMean}), (std::vector<float>{4.0F / 6, 1}));
}

TEST(Pooling, PutsModesOneAfterTheOther) {
  EXPECT_EQ(pooled({PoolingMode::Max, PoolingMode::Cls}), (std::vector<float>{3, 4, 1, -2}));
}

TEST(Pooling, LeavesThePromptOutWhereTheModelSays) {
  EXPECT_EQ(pooled({PoolingMode::Mean}, 1, false), (std::vector<float>{1, 2}));
  EXPECT_EQ(pooled({PoolingMode::Cls}, 1, false), (std::vector<float>{3, 4}));
  EXPECT_EQ(pooled({PoolingMode::WeightedMean}, 1, false),
            (std::vector<float>{3.0F / 5, 8.0F / 5}));
  EXPECT_EQ(pooled({PoolingMode::Mean}, 1, true), pooled({PoolingMode::Mean}));
}

// A prompt that fills the whole length would leave nothing to divide by.
TEST(Pooling, NeverDividesByZero) {
  EXPECT_EQ(pooled({PoolingMode::Mean}, 3, false), pooled({PoolingMode::Mean}));
}

}  // namespace
}  // namespace sibyl::encoder
