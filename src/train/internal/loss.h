#pragma once

#include "train/internal/torch.h"

namespace sibyl::train {

struct LossInput {
  at::Tensor questions;  ///< [q x dimension], unit length
  at::Tensor documents;  ///< [d x dimension], unit length
  at::Tensor positive;   ///< [q x d] bool
  at::Tensor ignored;    ///< [q x d] bool: neither positive nor negative; may be undefined
  double scale = 20;
  bool symmetric = false;
};

/// Multiple-negatives ranking with any number of positives: for each positive the softmax of its
/// score against the question's negatives alone, so that two right answers do not push each other
/// away; the mean over a question's positives, then over questions. Symmetric adds the same from
/// documents to questions and halves the sum. A question without negatives adds 0.
at::Tensor ranking_loss(const LossInput& input);

}  // namespace sibyl::train
