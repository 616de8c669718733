#include "train/internal/progress.h"

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

TEST(Progress, SurvivesItsTextBitForBit) {
  Progress progress;
  progress.stage = 1;
  progress.step = 123;
  progress.schedule = Schedule::make(5e-5, 0.1, 0.0, 777);
  progress.best = 0.1 + 0.2;
  progress.loss_sum = 1.0 / 3.0;
  progress.planned_steps = {10, 777};
  progress.deadlines_s = {0, 99.5};
  progress.epoch_open = true;
  progress.epochs = {{"cold", 1, 2.5, 1.0 / 7.0}, {"labels", 1, 0.5, -1}};
  const auto read = progress_from_json(progress_to_json(progress));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(progress_to_json(*read), progress_to_json(progress));
  EXPECT_EQ(read->best, progress.best);
  EXPECT_EQ(read->epochs[0].ndcg_at_10, 1.0 / 7.0);
  EXPECT_EQ(read->schedule.rate(300), progress.schedule.rate(300));
}

TEST(Progress, RefusesMissingAndWrongFields) {
  EXPECT_FALSE(progress_from_json("{}"));
  EXPECT_FALSE(progress_from_json("[]"));
  EXPECT_FALSE(progress_from_json(""));
  std::string text = progress_to_json({});
  text.replace(text.find("\"step\":0"), 8, "\"step\":[]");
  EXPECT_FALSE(progress_from_json(text));
}

}  // namespace
}  // namespace sibyl::train
