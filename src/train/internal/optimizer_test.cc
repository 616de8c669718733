#include "train/internal/optimizer.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

TEST(AdamW, FirstStepOfRowsIsThatOfTheFormula) {
  auto network = make_static_network(4, 2, {}, 1, {});
  ASSERT_TRUE(network);
  RowTable& table = (*network)->table();
  AdamW optimizer(**network, {.weight_decay = 0.1, .other_rows_rest = true});
  const at::Tensor before = table.value.clone();
  (*network)->begin_rows(std::vector<int32_t>{3, 1, 3});
  (table.leaf * at::tensor(std::vector<float>{2, -3, 0.5F, 1}).view({2, 2})).sum().backward();
  optimizer.step(0.01);
  (*network)->end_rows();
  // After one step the corrected moments are the gradient and its square: the move is its sign.
  for (const int row : {1, 3}) {
    for (const int column : {0, 1}) {
      const double sign = row == 1 && column == 1 ? -1 : 1;
      const double old = before[row][column].item<double>();
      EXPECT_NEAR(table.value[row][column].item<double>(), old - 0.01 * 0.1 * old - 0.01 * sign,
                  1e-6);
    }
  }
  EXPECT_TRUE(at::equal(table.value[0], before[0]));
  EXPECT_EQ(optimizer.steps(), 1);
}

/// Value of row 1 after a step with gradient 1 and another whose batch holds row 2 alone.
double row_after_a_step_of_another(bool other_rows_rest) {
  auto network = make_static_network(3, 1, {}, 1, {});
  RowTable& table = (*network)->table();
  table.value.zero_();
  AdamW optimizer(**network, {.other_rows_rest = other_rows_rest});
  for (const int32_t row : {1, 2}) {
    (*network)->begin_rows(std::vector<int32_t>{row});
    optimizer.clear_gradients();
    table.leaf.sum().backward();
    optimizer.step(0.01);
    (*network)->end_rows();
  }
  EXPECT_NEAR(table.value[0].item<double>(), 0, 1e-12);
  return table.value[1].item<double>();
}

TEST(AdamW, ARowThatTheBatchLacksFollowsItsMomentum) {
  // Second step, gradient 0: first moment 0.9·0.1 / 0.19, second 0.999·0.001 / 0.001999.
  const double second = 0.01 * (0.09 / 0.19) / std::sqrt(0.000999 / 0.001999);
  EXPECT_NEAR(row_after_a_step_of_another(false), -0.01 - second, 1e-6);
}

TEST(AdamW, ARowThatTheBatchLacksRestsWhereRowsRest) {
  EXPECT_NEAR(row_after_a_step_of_another(true), -0.01, 1e-6);
}

/// Where a row of two values lands from 0 after gradients (0.6, 0.8) and ten times as much.
at::Tensor row_after_two_steps(double gradient_norm_max) {
  auto network = make_static_network(2, 2, {}, 1, {});
  RowTable& table = (*network)->table();
  table.value.zero_();
  AdamW optimizer(**network, {.gradient_norm_max = gradient_norm_max});
  for (const float factor : {1.0F, 10.0F}) {
    (*network)->begin_rows(std::vector<int32_t>{1});
    optimizer.clear_gradients();
    (table.leaf * at::tensor(std::vector<float>{0.6F * factor, 0.8F * factor})).sum().backward();
    optimizer.step(0.01);
    (*network)->end_rows();
  }
  return table.value[1];
}

TEST(AdamW, AGradientLongerThanTheLimitIsShortenedToItAsAWhole) {
  // Both steps see (0.6, 0.8), of length 1: corrected moments are its sign, the move is the rate.
  const at::Tensor limited = row_after_two_steps(1);
  EXPECT_NEAR(limited[0].item<double>(), -0.02, 1e-6);
  EXPECT_NEAR(limited[1].item<double>(), -0.02, 1e-6);
}

TEST(AdamW, WithoutALimitALongGradientWeighsMore) {
  // Second step: (0.9·0.1·g + 0.1·10·g) / 0.19 over the root of
  // (0.999·0.001·g² + 0.001·100·g²) / 0.001999.
  const double second = 0.01 * (1.09 / 0.19) / std::sqrt(0.100999 / 0.001999);
  for (const double off : {0.0, 100.0}) {
    EXPECT_NEAR(row_after_two_steps(off)[0].item<double>(), -0.01 - second, 1e-6);
  }
}

}  // namespace
}  // namespace sibyl::train
