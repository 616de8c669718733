#include "train/internal/micro_batch.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace sibyl::train {
namespace {

size_t padded_length(size_t length, size_t step) {
  return (length + step - 1) / step * step;
}

void append(MicroBatch& batch, std::span<const int32_t> sequence, size_t item, size_t length,
            int32_t padding_id) {
  const bool padded = sequence.size() < length;
  if (batch.runs.empty() || batch.runs.back().length != length) {
    batch.runs.push_back({batch.ids.size(), batch.items.size(), 0, length, false});
  }
  MicroBatch::Run& run = batch.runs.back();
  ++run.count;
  run.padded = run.padded || padded;
  batch.items.push_back(item);
  batch.lengths.push_back(static_cast<int32_t>(sequence.size()));
  batch.ids.insert(batch.ids.end(), sequence.begin(), sequence.end());
  batch.ids.resize(batch.ids.size() + (length - sequence.size()), padding_id);
}

}  // namespace

std::vector<MicroBatch> make_micro_batches(std::span<const std::span<const int32_t>> sequences,
                                           const MicroBatchLimits& limits) {
  base::check(limits.tokens_max > 0 && limits.length_step > 0, "micro-batch limits are positive");
  std::vector<size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](size_t item) { return sequences[item].size(); });
  std::vector<MicroBatch> batches;
  for (const size_t item : order) {
    const size_t length = padded_length(sequences[item].size(), limits.length_step);
    if (batches.empty() || batches.back().ids.size() + length > limits.tokens_max) {
      batches.emplace_back();
    }
    append(batches.back(), sequences[item], item, length, limits.padding_id);
  }
  return batches;
}

}  // namespace sibyl::train
