#pragma once

#include <cstdint>
#include <vector>

#include "train/internal/stage_items.h"

namespace sibyl::train {

/// One optimizer step: each document is encoded once, with all its questions of the batch.
struct Batch {
  std::vector<uint32_t> documents;  ///< into StageItems::documents, distinct
  std::vector<uint32_t> questions;  ///< into StageItems::questions, distinct
};

struct BatchLimits {
  size_t documents = 0;
  size_t questions_max = 0;
};

/// The batches of one epoch, decided by the seed and the epoch alone, so that a resumed run sees
/// the same ones. Two documents of one passage never share a batch unless nothing else is left.
std::vector<Batch> make_epoch(const StageItems& items, const BatchLimits& limits, uint64_t seed,
                              size_t epoch);

/// [questions x documents] of a batch, row-major: 1 where the document answers the question.
std::vector<uint8_t> positive_mask(const StageItems& items, const Batch& batch);

}  // namespace sibyl::train
