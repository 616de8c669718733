#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "train/internal/network.h"
#include "train/internal/sampler.h"
#include "train/internal/torch.h"

namespace sibyl::train {

/// Vectors of the frozen start model, for masking in-batch items that it finds better than the
/// right answer (Solatorio 2024, GISTEmbed). Rows by StageItems' questions and documents.
struct Guide {
  at::Tensor questions;
  at::Tensor documents;
};

struct StepOptions {
  MicroBatchLimits limits;
  double scale = 20;
  bool symmetric = false;
  double mask_margin = -1;  ///< negative: no guide
  /// GradCache (Gao et al. 2021): encode without graph, take the loss over the whole batch, encode
  /// again with graph. Memory follows the micro-batch; one more encoding.
  bool cached_gradients = false;
};

/// [questions x documents] of a batch: in-batch items that the guide scores above the best right
/// answer less the margin.
at::Tensor guide_mask(const Guide& guide, const Batch& batch, const at::Tensor& positive,
                      double margin);

/// Adds the gradient of one batch's loss to the network (`begin_rows` is called inside) and returns
/// the loss. `seed` fixes dropout: the masks of micro-batch i are a function of (seed, i), so both
/// encodings of GradCache, and a repeated step, see the same. Empty when `stop` was requested: the
/// gradients are void then and the weights untouched.
std::optional<double> add_gradients(Network& network, const StageItems& items, const Batch& batch,
                                    const Guide* guide, const StepOptions& options, uint64_t seed,
                                    const std::stop_token& stop);

/// Documents, then questions of a batch.
std::vector<std::span<const int32_t>> batch_sequences(const StageItems& items, const Batch& batch);

/// Mixes numbers into a seed (SplitMix64).
uint64_t mix_seed(uint64_t seed, uint64_t value);

}  // namespace sibyl::train
