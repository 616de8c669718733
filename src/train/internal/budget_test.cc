#include "train/internal/budget.h"

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

Cost two_epochs() {
  Cost cost;
  cost.stages = {{.steps = 200, .epochs = 2, .seconds = 400}};
  cost.validation_seconds = 10;
  cost.fixed_seconds = 2;
  return cost;
}

TEST(Budget, WithoutOneEverythingIsDone) {
  const BudgetPlan plan = plan_budget(two_epochs(), 0, true);
  EXPECT_EQ(plan.steps[0], 200U);
  EXPECT_FALSE(plan.shrunk);
  EXPECT_DOUBLE_EQ(plan.full_seconds, 400 + 2 + 3 * 10);
}

TEST(Budget, AWideOneChangesNothing) {
  const BudgetPlan plan = plan_budget(two_epochs(), 1000, true);
  EXPECT_EQ(plan.steps[0], 200U);
  EXPECT_FALSE(plan.shrunk);
  EXPECT_TRUE(plan.first_validation);
}

TEST(Budget, ShrinksStepsSoThatTheValidationsFitToo) {
  const BudgetPlan plan = plan_budget(two_epochs(), 122, true);
  EXPECT_TRUE(plan.shrunk);
  EXPECT_TRUE(plan.validates);
  EXPECT_TRUE(plan.first_validation);
  // 122 - 2 - 10 (first) - 10 (one more): 100 s of 400 s.
  EXPECT_EQ(plan.steps[0], 50U);
  EXPECT_DOUBLE_EQ(plan.deadlines_s[0], 120);
}

TEST(Budget, LeavesOutAValidationThatWouldEatTheBudget) {
  Cost cost = two_epochs();
  cost.validation_seconds = 60;
  EXPECT_FALSE(plan_budget(cost, 122, true).validates);
  cost.validation_seconds = 20;
  const BudgetPlan plan = plan_budget(cost, 122, true);
  EXPECT_TRUE(plan.validates);
  EXPECT_FALSE(plan.first_validation);
}

TEST(Budget, EveryStageKeepsTheSameShare) {
  Cost cost;
  cost.stages = {{.steps = 100, .epochs = 1, .seconds = 100},
                 {.steps = 300, .epochs = 3, .seconds = 300}};
  const BudgetPlan plan = plan_budget(cost, 200, false);
  EXPECT_EQ(plan.steps[0], 50U);
  EXPECT_EQ(plan.steps[1], 150U);
  EXPECT_NEAR(plan.deadlines_s[0], 50, 0.01);
  EXPECT_DOUBLE_EQ(plan.deadlines_s[1], 200);
}

TEST(Budget, NoteSaysWhatMoreWouldCost) {
  const Cost cost = two_epochs();
  const std::string note = budget_note(plan_budget(cost, 122, true), cost, 122);
  EXPECT_NE(note.find("50 of 200 steps (25 %)"), std::string::npos) << note;
  EXPECT_NE(note.find("7.2 min"), std::string::npos) << note;
}

TEST(Budget, StepsInTimeNeverStopsBeforeTheNextStep) {
  EXPECT_EQ(steps_in_time(10, 100, 2.0, 60), 40U);
  EXPECT_EQ(steps_in_time(10, 100, 2.0, -5), 11U);
  EXPECT_EQ(steps_in_time(10, 100, 0.0, 1), 100U);
}

}  // namespace
}  // namespace sibyl::train
