#include "train/internal/optimizer.h"

#include <cmath>

namespace sibyl::train {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

}  // namespace

AdamW::AdamW(Network& network, double weight_decay)
    : network_(network), weight_decay_(weight_decay) {
  for (const Parameter& parameter : network.parameters()) {
    first_.push_back(at::zeros_like(parameter.value));
    second_.push_back(at::zeros_like(parameter.value));
  }
  table_first_ = at::zeros_like(network.table().value);
  table_second_ = at::zeros_like(network.table().value);
}

void AdamW::clear_gradients() {
  for (Parameter& parameter : network_.parameters()) {
    parameter.value.mutable_grad().reset();
  }
}

void AdamW::step(double learning_rate) {
  const c10::NoGradGuard no_grad;
  ++steps_;
  step_parameters(learning_rate, true);
  step_parameters(learning_rate, false);
  step_rows(learning_rate);
}

void AdamW::step_parameters(double learning_rate, bool decays) {
  std::vector<at::Tensor> values;
  std::vector<at::Tensor> gradients;
  std::vector<at::Tensor> first;
  std::vector<at::Tensor> second;
  std::vector<at::Tensor> counts;
  auto& parameters = network_.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].decays == decays && parameters[i].value.grad().defined()) {
      values.push_back(parameters[i].value);
      gradients.push_back(parameters[i].value.grad());
      first.push_back(first_[i]);
      second.push_back(second_[i]);
      counts.push_back(
          at::full({}, static_cast<double>(steps_), values.back().options().requires_grad(false)));
    }
  }
  if (!values.empty()) {
    at::_fused_adamw_(values, gradients, first, second, {}, counts, learning_rate, kBeta1, kBeta2,
                      decays ? weight_decay_ : 0.0, kEpsilon, /*amsgrad=*/false,
                      /*maximize=*/false);
  }
}

void AdamW::step_rows(double learning_rate) {
  RowTable& table = network_.table();
  if (!table.leaf.defined() || !table.leaf.grad().defined()) {
    return;
  }
  at::Tensor values = table.leaf.detach();
  at::Tensor first = table_first_.index_select(0, table.rows);
  at::Tensor second = table_second_.index_select(0, table.rows);
  const at::Tensor count = at::full({}, static_cast<double>(steps_), values.options());
  at::_fused_adamw_({values}, {table.leaf.grad()}, {first}, {second}, {}, {count}, learning_rate,
                    kBeta1, kBeta2, weight_decay_, kEpsilon, /*amsgrad=*/false,
                    /*maximize=*/false);
  table.value.index_copy_(0, table.rows, values);
  table_first_.index_copy_(0, table.rows, first);
  table_second_.index_copy_(0, table.rows, second);
}

std::vector<at::Tensor> AdamW::moments() const {
  std::vector<at::Tensor> out = first_;
  out.insert(out.end(), second_.begin(), second_.end());
  out.push_back(table_first_);
  out.push_back(table_second_);
  return out;
}

}  // namespace sibyl::train
