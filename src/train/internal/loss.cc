#include "train/internal/loss.h"

namespace sibyl::train {
namespace {

/// Stands for "not a negative" in the exponent; finite, so that a row of nothing else has gradient
/// 0.
constexpr double kAbsent = -1e4;

/// Rows are questions (or documents); every row has its positives and negatives among the columns.
at::Tensor one_direction(const at::Tensor& scores, const at::Tensor& positive,
                         const at::Tensor& not_negative) {
  const at::Tensor negatives =
      at::logsumexp(scores.masked_fill(not_negative, kAbsent), at::IntArrayRef{1}, true);
  const at::Tensor each = at::softplus(negatives - scores).masked_fill(positive.logical_not(), 0);
  const at::Tensor counts = positive.sum(1);
  const at::Tensor rows = each.sum(1) / counts.clamp_min(1);
  return rows.sum() / (counts > 0).sum().clamp_min(1);
}

}  // namespace

at::Tensor ranking_loss(const LossInput& input) {
  const at::Tensor scores = at::mm(input.questions, input.documents.t()) * input.scale;
  const at::Tensor not_negative =
      input.ignored.defined() ? input.positive.logical_or(input.ignored) : input.positive;
  const at::Tensor forward = one_direction(scores, input.positive, not_negative);
  if (!input.symmetric) {
    return forward;
  }
  return (forward + one_direction(scores.t(), input.positive.t(), not_negative.t())) * 0.5;
}

}  // namespace sibyl::train
