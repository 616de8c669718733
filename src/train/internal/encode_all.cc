#include "train/internal/encode_all.h"

namespace sibyl::train {

std::optional<at::Tensor> encode_all(Network& network, const TokenTable& texts,
                                     const MicroBatchLimits& limits, const std::stop_token& stop) {
  const c10::NoGradGuard no_grad;
  std::vector<std::span<const int32_t>> sequences;
  sequences.reserve(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    sequences.push_back(texts.at(i));
  }
  at::Tensor out =
      at::zeros({static_cast<int64_t>(texts.size()), static_cast<int64_t>(network.dimension())});
  for (const MicroBatch& batch : make_micro_batches(sequences, limits)) {
    if (stop.stop_requested()) {
      return std::nullopt;
    }
    std::vector<int64_t> places(batch.items.begin(), batch.items.end());
    out.index_copy_(0, at::tensor(places, at::kLong),
                    network.encode(batch, {}).to(at::kCPU, at::kFloat));
  }
  return out;
}

}  // namespace sibyl::train
