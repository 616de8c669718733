#include "train/internal/attention.h"

#include <cmath>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

namespace sibyl::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// What a run needs again in the backward pass.
struct RunState {
  MicroBatch::Run run;
  at::Tensor parts;    ///< [3, sequences·heads, length, width]: queries (scaled), keys, values
  at::Tensor weights;  ///< [sequences·heads, length, length] after the softmax
  at::Tensor dropped;  ///< the weights after dropout; the same tensor without
  at::Tensor kept;     ///< mask of dropout; undefined without
};

/// Holds the states between the passes; freed with the graph.
struct States : torch::CustomClassHolder {
  std::vector<RunState> runs;
};

/// [tokens x parts·heads·width] of a run as [parts, sequences·heads, length, width], copied.
at::Tensor gather(const at::Tensor& rows, const MicroBatch::Run& run, int64_t parts,
                  const AttentionShape& shape) {
  const auto count = static_cast<int64_t>(run.count);
  const auto length = static_cast<int64_t>(run.length);
  return rows.narrow(0, static_cast<int64_t>(run.first_token), count * length)
      .view({count, length, parts, shape.heads, shape.width})
      .permute({2, 0, 3, 1, 4})
      .contiguous()
      .view({parts, count * shape.heads, length, shape.width});
}

/// The inverse: writes [sequences·heads, length, width] into one part of the rows.
void scatter(at::Tensor& rows, const at::Tensor& values, const MicroBatch::Run& run, int64_t parts,
             int64_t part, const AttentionShape& shape) {
  const auto count = static_cast<int64_t>(run.count);
  const auto length = static_cast<int64_t>(run.length);
  rows.narrow(0, static_cast<int64_t>(run.first_token), count * length)
      .view({count, length, parts, shape.heads, shape.width})
      .select(2, part)
      .copy_(values.view({count, shape.heads, length, shape.width}).transpose(1, 2));
}

/// [sequences·heads, 1, length]: -inf-like where a key is padding.
at::Tensor padding_bias(const MicroBatch& batch, const MicroBatch::Run& run, int64_t heads,
                        const at::Device& device) {
  const auto count = static_cast<int64_t>(run.count);
  const auto length = static_cast<int64_t>(run.length);
  at::Tensor bias = at::zeros({count, 1, 1, length});
  for (int64_t i = 0; i < count; ++i) {
    const int64_t real = batch.lengths[run.first_item + static_cast<size_t>(i)];
    bias.select(0, i).narrow(2, real, length - real).fill_(-1e30F);
  }
  return bias.expand({count, heads, 1, length}).reshape({count * heads, 1, length}).to(device);
}

RunState run_forward(const at::Tensor& rows, const MicroBatch& batch, const MicroBatch::Run& run,
                     const AttentionShape& shape) {
  RunState state;
  state.run = run;
  state.parts = gather(rows, run, 3, shape);
  state.parts[0].mul_(1.0 / std::sqrt(static_cast<double>(shape.width)));
  at::Tensor scores = at::bmm(state.parts[0], state.parts[1].transpose(1, 2));
  if (run.padded) {
    scores.add_(padding_bias(batch, run, shape.heads, rows.device()));
  }
  state.weights = at::softmax(scores, -1);
  if (shape.dropout > 0) {
    std::tie(state.dropped, state.kept) = at::native_dropout(state.weights, shape.dropout, true);
  } else {
    state.dropped = state.weights;
  }
  return state;
}

void run_backward(const RunState& state, const at::Tensor& gradient, at::Tensor& out,
                  const AttentionShape& shape) {
  const at::Tensor context = gather(gradient, state.run, 1, shape)[0];
  scatter(out, at::bmm(state.dropped.transpose(1, 2), context), state.run, 3, 2, shape);
  at::Tensor weights = at::bmm(context, state.parts[2].transpose(1, 2));
  if (state.kept.defined()) {
    weights = at::native_dropout_backward(weights, state.kept, 1.0 / (1.0 - shape.dropout));
  }
  const at::Tensor scores =
      at::_softmax_backward_data(weights, state.weights, -1, state.weights.scalar_type());
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.width));
  scatter(out, at::bmm(scores, state.parts[1]).mul_(scale), state.run, 3, 0, shape);
  scatter(out, at::bmm(scores.transpose(1, 2), state.parts[0]), state.run, 3, 1, shape);
}

class SelfAttention : public torch::autograd::Function<SelfAttention> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                            const MicroBatch* batch, const AttentionShape* shape) {
    at::Tensor out = at::empty({rows.size(0), shape->heads * shape->width}, rows.options());
    auto states = c10::make_intrusive<States>();
    const bool keep = rows.requires_grad();
    for (const MicroBatch::Run& run : batch->runs) {
      RunState state = run_forward(rows, *batch, run, *shape);
      scatter(out, at::bmm(state.dropped, state.parts[2]), run, 1, 0, *shape);
      if (keep) {
        states->runs.push_back(std::move(state));
      }
    }
    context->saved_data["states"] = c10::IValue::make_capsule(std::move(states));
    context->saved_data["heads"] = shape->heads;
    context->saved_data["width"] = shape->width;
    context->saved_data["dropout"] = shape->dropout;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const AttentionShape shape{.heads = context->saved_data["heads"].toInt(),
                               .width = context->saved_data["width"].toInt(),
                               .dropout = context->saved_data["dropout"].toDouble()};
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor out =
        at::empty({gradient.size(0), 3 * shape.heads * shape.width}, gradient.options());
    const auto states = context->saved_data["states"].toCapsule();
    for (const RunState& state : static_cast<States&>(*states).runs) {
      run_backward(state, gradient, out, shape);
    }
    return {out, Variable(), Variable()};
  }
};

}  // namespace

at::Tensor self_attention(const at::Tensor& query_key_value, const MicroBatch& batch,
                          const AttentionShape& shape) {
  return SelfAttention::apply(query_key_value, &batch, &shape);
}

}  // namespace sibyl::train
