#pragma once

#include <cstdint>
#include <vector>

#include "train/internal/network.h"
#include "train/internal/torch.h"

namespace sibyl::train {

/// AdamW (Loshchilov and Hutter 2019) with fused updates. The token table is updated in the rows of
/// the batch alone (as PyTorch's SparseAdam): the other rows rest, which spares the traffic of the
/// whole table and its moments each step.
class AdamW {
 public:
  AdamW(Network& network, double weight_decay);

  /// Applies the gradients gathered since `clear_gradients` and counts the step.
  void step(double learning_rate);
  void clear_gradients();

  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  /// First and second moments: of every parameter in order, then of the table. For checkpoints.
  std::vector<at::Tensor> moments() const;

 private:
  void step_parameters(double learning_rate, bool decays);
  void step_rows(double learning_rate);

  Network& network_;
  double weight_decay_;
  int64_t steps_ = 0;
  std::vector<at::Tensor> first_, second_;
  at::Tensor table_first_, table_second_;
};

}  // namespace sibyl::train
