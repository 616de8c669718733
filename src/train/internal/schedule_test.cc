#include "train/internal/schedule.h"

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

TEST(Schedule, WarmsUpThenDecaysLinearly) {
  const Schedule schedule = Schedule::make(1.0, 0.1, 0.05, 100);
  EXPECT_GT(schedule.rate(0), 0);
  EXPECT_LT(schedule.rate(0), schedule.rate(5));
  EXPECT_DOUBLE_EQ(schedule.rate(10), 1.0);
  EXPECT_NEAR(schedule.rate(55), 1.0 - 0.95 / 2, 1e-12);
  EXPECT_NEAR(schedule.rate(100), 0.05, 1e-12);
}

TEST(Schedule, ShorteningGoesOnWithoutAJump) {
  Schedule schedule = Schedule::make(1.0, 0.1, 0.0, 100);
  const double before = schedule.rate(40);
  schedule.shorten(40, 60);
  EXPECT_DOUBLE_EQ(schedule.rate(40), before);
  EXPECT_NEAR(schedule.rate(50), before / 2, 1e-12);
  EXPECT_NEAR(schedule.rate(60), 0.0, 1e-12);
  EXPECT_EQ(schedule.steps, 60U);
}

TEST(Schedule, ShorteningInTheWarmUpEndsTheClimb) {
  Schedule schedule = Schedule::make(1.0, 0.5, 0.0, 100);
  const double before = schedule.rate(10);
  schedule.shorten(10, 20);
  EXPECT_DOUBLE_EQ(schedule.rate(10), before);
  EXPECT_LT(schedule.rate(15), before);
  EXPECT_GE(schedule.rate(19), 0);
}

TEST(Schedule, OneStepIsEnough) {
  const Schedule schedule = Schedule::make(1.0, 0.1, 0.0, 1);
  EXPECT_DOUBLE_EQ(schedule.rate(0), 1.0);
}

}  // namespace
}  // namespace sibyl::train
