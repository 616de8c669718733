#include "train/internal/pooling.h"

namespace sibyl::train {
namespace {

using model::PoolingMode;

/// [sequences, length] with 1 for real tokens.
at::Tensor real_tokens(const MicroBatch& batch, const MicroBatch::Run& run,
                       const at::Tensor& like) {
  at::Tensor mask = at::ones({static_cast<int64_t>(run.count), static_cast<int64_t>(run.length)});
  for (size_t i = 0; run.padded && i < run.count; ++i) {
    const int64_t real = batch.lengths[run.first_item + i];
    mask.select(0, static_cast<int64_t>(i))
        .narrow(0, real, static_cast<int64_t>(run.length) - real)
        .zero_();
  }
  return mask.to(like.options());
}

/// `tokens` is [sequences, length, width].
at::Tensor pool_run(const at::Tensor& tokens, const at::Tensor& mask, PoolingMode mode) {
  const at::Tensor weights = mask.unsqueeze(2);
  const at::Tensor counts = mask.sum(1, true);
  switch (mode) {
    case PoolingMode::Cls:
      return tokens.select(1, 0);
    case PoolingMode::Max:
      return std::get<0>(tokens.masked_fill(weights == 0, -1e9).max(1));
    case PoolingMode::Mean:
      return (tokens * weights).sum(1) / counts;
    case PoolingMode::MeanSqrtLength:
      return (tokens * weights).sum(1) / counts.sqrt();
    case PoolingMode::WeightedMean: {
      const at::Tensor places = at::arange(1, mask.size(1) + 1, mask.options()) * mask;
      return (tokens * places.unsqueeze(2)).sum(1) / places.sum(1, true);
    }
    case PoolingMode::LastToken: {
      const at::Tensor last = (counts - 1).to(at::kLong).unsqueeze(2);
      return tokens.gather(1, last.expand({-1, 1, tokens.size(2)})).squeeze(1);
    }
  }
  return {};
}

}  // namespace

at::Tensor pool(const at::Tensor& tokens, const MicroBatch& batch,
                const std::vector<PoolingMode>& modes) {
  std::vector<int64_t> sizes;
  for (const MicroBatch::Run& run : batch.runs) {
    sizes.push_back(static_cast<int64_t>(run.count * run.length));
  }
  const std::vector<at::Tensor> runs = at::split_with_sizes(tokens, sizes);
  std::vector<at::Tensor> pooled;
  for (size_t i = 0; i < runs.size(); ++i) {
    const MicroBatch::Run& run = batch.runs[i];
    const at::Tensor shaped = runs[i].view(
        {static_cast<int64_t>(run.count), static_cast<int64_t>(run.length), tokens.size(1)});
    const at::Tensor mask = real_tokens(batch, run, tokens);
    std::vector<at::Tensor> parts;
    for (const PoolingMode mode : modes) {
      parts.push_back(pool_run(shaped, mask, mode));
    }
    pooled.push_back(parts.size() == 1 ? parts[0] : at::cat(parts, 1));
  }
  return at::cat(pooled, 0);
}

}  // namespace sibyl::train
