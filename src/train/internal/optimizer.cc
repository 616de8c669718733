#include "train/internal/optimizer.h"

#include <optional>

namespace sibyl::train {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

std::optional<at::Tensor> optional_tensor(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

AdamW::AdamW(Network& network, const AdamWOptions& options) : network_(network), options_(options) {
  for (const Parameter& parameter : network.parameters()) {
    first_.push_back(at::zeros_like(parameter.value));
    second_.push_back(at::zeros_like(parameter.value));
  }
  table_first_ = at::zeros_like(network.table().value);
  table_second_ = at::zeros_like(network.table().value);
  if (!options_.other_rows_rest) {
    table_gradient_ = at::zeros_like(network.table().value);
  }
}

void AdamW::clear_gradients() {
  for (Parameter& parameter : network_.parameters()) {
    parameter.value.mutable_grad().reset();
  }
}

void AdamW::step(double learning_rate) {
  const c10::NoGradGuard no_grad;
  ++steps_;
  const at::Tensor divisor = shortening();
  step_parameters(learning_rate, true, divisor);
  step_parameters(learning_rate, false, divisor);
  const RowTable& table = network_.table();
  if (table.leaf.defined() && table.leaf.grad().defined()) {
    options_.other_rows_rest ? step_rows(learning_rate, divisor)
                             : step_table(learning_rate, divisor);
  }
}

at::Tensor AdamW::shortening() const {
  std::vector<at::Tensor> gradients;
  for (const Parameter& parameter : network_.parameters()) {
    if (parameter.value.grad().defined()) {
      gradients.push_back(parameter.value.grad());
    }
  }
  const RowTable& table = network_.table();
  if (table.leaf.defined() && table.leaf.grad().defined()) {
    gradients.push_back(table.leaf.grad());
  }
  if (options_.gradient_norm_max <= 0 || gradients.empty()) {
    return {};
  }
  const at::Tensor length = at::stack(at::_foreach_norm(gradients)).norm();
  return (length / options_.gradient_norm_max).clamp_min(1);
}

void AdamW::step_parameters(double learning_rate, bool decays, const at::Tensor& divisor) {
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
                      decays ? options_.weight_decay : 0.0, kEpsilon, /*amsgrad=*/false,
                      /*maximize=*/false, optional_tensor(divisor));
  }
}

void AdamW::step_table(double learning_rate, const at::Tensor& divisor) {
  RowTable& table = network_.table();
  table_gradient_.index_copy_(0, table.rows, table.leaf.grad());
  const at::Tensor count = at::full({}, static_cast<double>(steps_), table.value.options());
  at::_fused_adamw_({table.value}, {table_gradient_}, {table_first_}, {table_second_}, {}, {count},
                    learning_rate, kBeta1, kBeta2, /*weight_decay=*/0.0, kEpsilon,
                    /*amsgrad=*/false, /*maximize=*/false, optional_tensor(divisor));
  table_gradient_.index_fill_(0, table.rows, 0);
}

void AdamW::step_rows(double learning_rate, const at::Tensor& divisor) {
  RowTable& table = network_.table();
  at::Tensor values = table.leaf.detach();
  at::Tensor first = table_first_.index_select(0, table.rows);
  at::Tensor second = table_second_.index_select(0, table.rows);
  const at::Tensor count = at::full({}, static_cast<double>(steps_), values.options());
  at::_fused_adamw_({values}, {table.leaf.grad()}, {first}, {second}, {}, {count}, learning_rate,
                    kBeta1, kBeta2, options_.weight_decay, kEpsilon, /*amsgrad=*/false,
                    /*maximize=*/false, optional_tensor(divisor));
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
