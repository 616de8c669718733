#include "train/internal/validation.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

TEST(Validation, NdcgOfTheRankOfTheRightAnswer) {
  const std::vector<float> scores = {0.9F, 0.5F, 0.7F, 0.1F};
  EXPECT_DOUBLE_EQ(ndcg_of_scores(scores, {0}), 1.0);
  EXPECT_NEAR(ndcg_of_scores(scores, {1}), 1 / std::log2(4.0), 1e-12);
  EXPECT_NEAR(ndcg_of_scores(scores, {0, 1}), (1 + 0.5) / (1 + 1 / std::log2(3.0)), 1e-12);
}

TEST(Validation, EqualScoresRankTheLowerPlaceFirst) {
  const std::vector<float> scores = {0.5F, 0.5F, 0.5F};
  EXPECT_DOUBLE_EQ(ndcg_of_scores(scores, {0}), 1.0);
  EXPECT_NEAR(ndcg_of_scores(scores, {2}), 0.5, 1e-12);
}

TEST(Validation, BeyondTheTenthPlaceNothingCounts) {
  std::vector<float> scores(20, 1.0F);
  scores[15] = 0.5F;
  EXPECT_DOUBLE_EQ(ndcg_of_scores(scores, {15}), 0.0);
  EXPECT_DOUBLE_EQ(ndcg_of_scores(scores, {10}), 0.0);
}

}  // namespace
}  // namespace sibyl::train
