#include "rank/blend.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sibyl::rank {
namespace {

/// Questions whose gold has the best `2 * first + second`, noise in a third feature.
std::vector<BlendQuestion> made_questions(size_t count, size_t candidates, uint64_t seed) {
  base::Random random(seed);
  std::vector<BlendQuestion> questions(count);
  for (BlendQuestion& question : questions) {
    question.gold = 1;
    size_t best = 0;
    double best_score = -1;
    for (size_t i = 0; i < candidates; ++i) {
      const auto a = static_cast<float>(random.uniform());
      const auto b = static_cast<float>(random.uniform());
      const auto noise = static_cast<float>(random.uniform());
      question.candidates.push_back({{a, b, noise}, false, i});
      if (2.0 * a + b > best_score) {
        best_score = 2.0 * a + b;
        best = i;
      }
    }
    question.candidates[best].gold = true;
  }
  return questions;
}

TEST(FitBlend, FindsTheWeightsThatMadeTheGold) {
  const auto questions = made_questions(200, 50, 7);
  const auto fit = fit_blend(questions, 3, {});
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->weights[0] / fit->weights[1], 2.0, 0.01);
  EXPECT_EQ(fit->weights[2], 0);
  EXPECT_DOUBLE_EQ(fit->fitted.ndcg_at_10, 1.0);
  EXPECT_GT(fit->cross_fitted.ndcg_at_10, 0.99);
  EXPECT_EQ(fit->per_question.size(), 200U);
  EXPECT_EQ(fit->cross_per_question.size(), 200U);
}

TEST(FitBlend, IsTheSameEveryTime) {
  const auto questions = made_questions(60, 30, 3);
  const auto first = fit_blend(questions, 3, {});
  const auto again = fit_blend(questions, 3, {});
  ASSERT_TRUE(first.has_value() && again.has_value());
  EXPECT_EQ(first->weights, again->weights);
  EXPECT_EQ(first->cross_fitted.map_at_100, again->cross_fitted.map_at_100);
}

// The search drops candidates that can never matter; the figures must be those of all candidates.
TEST(FitBlend, FittedFigureIsThatOfTheWholeCandidateList) {
  auto questions = made_questions(80, 40, 11);
  base::Random random(5);
  for (BlendQuestion& question : questions) {  // Gold at random: no weights are right.
    for (BlendCandidate& candidate : question.candidates) {
      candidate.gold = random.below(20) == 0;
      question.gold += candidate.gold ? 1 : 0;
    }
  }
  const auto fit = fit_blend(questions, 3, {});
  ASSERT_TRUE(fit.has_value());
  const Metrics scored = mean_metrics(score_blend(questions, fit->weights));
  EXPECT_EQ(scored.ndcg_at_10, fit->fitted.ndcg_at_10);
  for (const std::vector<double>& other :
       {std::vector<double>{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}) {
    EXPECT_GE(fit->fitted.ndcg_at_10 + 1e-6,
              mean_metrics(score_blend(questions, other)).ndcg_at_10);
  }
}

TEST(FitBlend, QuestionsWithoutGoldOrCandidatesCountZero) {
  std::vector<BlendQuestion> questions(3);
  questions[0].gold = 1;
  questions[1].candidates = {{{1.F}, true, 0}, {{2.F}, false, 1}};
  questions[1].gold = 1;
  const auto fit = fit_blend(questions, 1, {});
  ASSERT_TRUE(fit.has_value());
  EXPECT_DOUBLE_EQ(fit->weights[0], 1);
  EXPECT_NEAR(fit->fitted.mrr_at_10, 0.5 / 3, 1e-12);
}

TEST(FitBlend, RefusesNoQuestionsAndUnevenFeatures) {
  EXPECT_EQ(fit_blend({}, 2, {}).error().code, Code::InvalidArgument);
  std::vector<BlendQuestion> questions(1);
  questions[0].candidates = {{{1.F}, true, 0}};
  EXPECT_EQ(fit_blend(questions, 2, {}).error().code, Code::InvalidArgument);
}

TEST(ScoreBlend, EqualScoresAreOrderedByTie) {
  std::vector<BlendQuestion> questions(1);
  questions[0].gold = 1;
  questions[0].candidates = {{{1.F}, true, 9}, {{1.F}, false, 4}};
  const std::vector<double> weights = {1.0};
  EXPECT_DOUBLE_EQ(score_blend(questions, weights)[0].mrr_at_10, 0.5);
}

}  // namespace
}  // namespace sibyl::rank
