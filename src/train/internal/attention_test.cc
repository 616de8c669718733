#include "train/internal/attention.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

/// Three sequences of lengths 4, 4 and 3 (padded to 4 where `padded`).
MicroBatch three(bool padded) {
  MicroBatch batch;
  batch.items = {0, 1, 2};
  batch.lengths = {4, 4, 3};
  if (padded) {
    batch.runs = {{0, 0, 3, 4, true}};
    batch.ids.assign(12, 1);
  } else {
    batch.runs = {{0, 0, 2, 4, false}, {8, 2, 1, 3, false}};
    batch.ids.assign(11, 1);
  }
  return batch;
}

/// One sequence by plain operations of the graph.
at::Tensor plain(const at::Tensor& rows, int64_t heads, int64_t width) {
  const at::Tensor parts = rows.view({rows.size(0), 3, heads, width}).permute({1, 2, 0, 3});
  const at::Tensor scores =
      at::matmul(parts[0], parts[1].transpose(1, 2)) / std::sqrt(static_cast<double>(width));
  return at::matmul(at::softmax(scores, -1), parts[2]).transpose(0, 1).reshape({rows.size(0), -1});
}

TEST(SelfAttention, GivesValuesAndGradientsOfThePlainFormula) {
  at::manual_seed(3);
  const at::Tensor rows = at::randn({11, 3 * 2 * 4}).requires_grad_(true);
  const at::Tensor weights = at::randn({11, 8});
  const at::Tensor out = self_attention(rows, three(false), {.heads = 2, .width = 4, .dropout = 0});
  (out * weights).sum().backward();
  const at::Tensor gradient = rows.grad().clone();
  rows.mutable_grad().reset();
  const at::Tensor expected =
      at::cat({plain(rows.narrow(0, 0, 4), 2, 4), plain(rows.narrow(0, 4, 4), 2, 4),
               plain(rows.narrow(0, 8, 3), 2, 4)});
  (expected * weights).sum().backward();
  EXPECT_TRUE(at::allclose(out, expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(gradient, rows.grad(), 1e-4, 1e-5));
}

TEST(SelfAttention, PaddingIsNotLookedAt) {
  at::manual_seed(4);
  const at::Tensor rows = at::randn({12, 24});
  const AttentionShape shape{.heads = 2, .width = 4, .dropout = 0};
  const at::Tensor padded = self_attention(rows, three(true), shape);
  const at::Tensor real = self_attention(rows.narrow(0, 0, 11), three(false), shape);
  EXPECT_TRUE(at::allclose(padded.narrow(0, 0, 11), real, 1e-5, 1e-6));
}

TEST(SelfAttention, DropoutGradientIsThatOfTheMaskDrawn) {
  at::manual_seed(5);
  const at::Tensor rows = at::randn({11, 24}).to(at::kFloat).requires_grad_(true);
  const AttentionShape shape{.heads = 2, .width = 4, .dropout = 0.4};
  const auto sum_at = [&](const at::Tensor& input) {
    at::manual_seed(6);
    return self_attention(input, three(false), shape).sum();
  };
  sum_at(rows).backward();
  const c10::NoGradGuard no_grad;
  const at::Tensor direction = at::randn({11, 24});
  const double step = 1e-2;
  const double slope = (sum_at(rows + direction * step).item<double>() -
                        sum_at(rows - direction * step).item<double>()) /
                       (2 * step);
  EXPECT_NEAR(slope, (rows.grad() * direction).sum().item<double>(), 0.02);
}

}  // namespace
}  // namespace sibyl::train
