#include "train/internal/optimizer.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

TEST(AdamW, FirstStepOfRowsIsThatOfTheFormula) {
  auto network = make_static_network(4, 2, {}, 1, {});
  ASSERT_TRUE(network);
  RowTable& table = (*network)->table();
  AdamW optimizer(**network, 0.1);
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

}  // namespace
}  // namespace sibyl::train
