#pragma once

#include <cstdint>
#include <vector>

#include "train/internal/network.h"
#include "train/internal/torch.h"

namespace sibyl::train {

struct AdamWOptions {
  /// Of the parameters that ask for it, and of the table's rows where other rows rest: where they
  /// follow their momentum, a row that no text has would do nothing but shrink.
  double weight_decay = 0;
  /// A step's gradient whose Euclidean length over all parameters is greater is shortened to it;
  /// 0: never.
  double gradient_norm_max = 0;
  /// Rows of the token table that the batch lacks rest (as PyTorch's SparseAdam), which spares the
  /// traffic of the whole table and its moments each step; else they follow their momentum, as
  /// every other parameter does.
  bool other_rows_rest = false;
};

/// AdamW (Loshchilov and Hutter 2019) with fused updates.
class AdamW {
 public:
  AdamW(Network& network, const AdamWOptions& options);

  /// Applies the gradients gathered since `clear_gradients` and counts the step.
  void step(double learning_rate);
  void clear_gradients();

  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  /// First and second moments: of every parameter in order, then of the table. For checkpoints.
  std::vector<at::Tensor> moments() const;

 private:
  /// What the fused updates divide gradients by; undefined where they stay as they are.
  at::Tensor shortening() const;
  void step_parameters(double learning_rate, bool decays, const at::Tensor& divisor);
  void step_table(double learning_rate, const at::Tensor& divisor);
  void step_rows(double learning_rate, const at::Tensor& divisor);

  Network& network_;
  AdamWOptions options_;
  int64_t steps_ = 0;
  std::vector<at::Tensor> first_, second_;
  at::Tensor table_first_, table_second_;
  at::Tensor table_gradient_;  ///< zero between steps; undefined where other rows rest
};

}  // namespace sibyl::train
