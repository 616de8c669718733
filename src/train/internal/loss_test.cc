#include "train/internal/loss.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

at::Tensor bools(std::vector<int> values, int64_t rows) {
  return at::tensor(values).view({rows, -1}).to(at::kBool);
}

/// Scores are the documents' first numbers: the question is (1, 0).
LossInput scored(const std::vector<float>& scores, std::vector<int> positive) {
  LossInput input;
  input.questions = at::tensor(std::vector<float>{1, 0}).view({1, 2});
  input.documents =
      at::stack({at::tensor(scores), at::zeros({static_cast<int64_t>(scores.size())})}, 1);
  input.positive = bools(std::move(positive), 1);
  input.scale = 2;
  return input;
}

TEST(RankingLoss, OnePositiveIsTheSoftmaxCrossEntropy) {
  const LossInput input = scored({0.5F, 0.1F, -0.2F}, {1, 0, 0});
  const double expected =
      -std::log(std::exp(1.0) / (std::exp(1.0) + std::exp(0.2) + std::exp(-0.4)));
  EXPECT_NEAR(ranking_loss(input).item<double>(), expected, 1e-6);
}

TEST(RankingLoss, TwoRightAnswersDoNotPushEachOtherAway) {
  const LossInput input = scored({0.5F, 0.1F, -0.2F}, {1, 1, 0});
  const double first = std::log1p(std::exp(-0.4 - 1.0));
  const double second = std::log1p(std::exp(-0.4 - 0.2));
  EXPECT_NEAR(ranking_loss(input).item<double>(), (first + second) / 2, 1e-6);
}

TEST(RankingLoss, IgnoredItemsAreNoNegatives) {
  LossInput input = scored({0.5F, 0.9F, -0.2F}, {1, 0, 0});
  input.ignored = bools({0, 1, 0}, 1);
  EXPECT_NEAR(ranking_loss(input).item<double>(), std::log1p(std::exp(-0.4 - 1.0)), 1e-6);
}

TEST(RankingLoss, WithoutNegativesThereIsNeitherLossNorGradient) {
  LossInput input = scored({0.5F, 0.1F}, {1, 1});
  input.documents.requires_grad_(true);
  const at::Tensor loss = ranking_loss(input);
  EXPECT_NEAR(loss.item<double>(), 0, 1e-6);
  loss.backward();
  EXPECT_TRUE(at::isfinite(input.documents.grad()).all().item<bool>());
  EXPECT_NEAR(input.documents.grad().abs().max().item<double>(), 0, 1e-6);
}

TEST(RankingLoss, SymmetricAveragesBothDirections) {
  LossInput input;
  input.questions = at::eye(2);
  input.documents = at::tensor(std::vector<float>{0.8F, 0.3F, 0.1F, 0.6F}).view({2, 2});
  input.positive = at::eye(2).to(at::kBool);
  input.scale = 1;
  input.symmetric = true;
  // Scores: question 0 gives (0.8, 0.1), question 1 gives (0.3, 0.6).
  const double by_question =
      (std::log1p(std::exp(0.1 - 0.8)) + std::log1p(std::exp(0.3 - 0.6))) / 2;
  const double by_document =
      (std::log1p(std::exp(0.3 - 0.8)) + std::log1p(std::exp(0.1 - 0.6))) / 2;
  EXPECT_NEAR(ranking_loss(input).item<double>(), (by_question + by_document) / 2, 1e-6);
}

}  // namespace
}  // namespace sibyl::train
