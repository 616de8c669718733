#include "train/internal/gradient_step.h"

#include "train/internal/loss.h"

namespace sibyl::train {
namespace {

at::Tensor bool_tensor(const std::vector<uint8_t>& values, size_t rows, size_t columns) {
  at::Tensor out =
      at::empty({static_cast<int64_t>(rows), static_cast<int64_t>(columns)}, at::kBool);
  std::copy(values.begin(), values.end(), out.data_ptr<bool>());
  return out;
}

at::Tensor index_tensor(const std::vector<uint32_t>& values) {
  const std::vector<int64_t> wide(values.begin(), values.end());
  return at::tensor(wide, at::kLong);
}

/// One batch between its two passes.
class Pass {
 public:
  Pass(Network& network, const StepOptions& options, uint64_t seed, const std::stop_token& stop)
      : network_(network), options_(options), seed_(seed), stop_(stop) {}

  /// False when stopped.
  bool encode(const std::vector<std::span<const int32_t>>& sequences) {
    batches_ = make_micro_batches(sequences, options_.limits);
    std::vector<int32_t> ids;
    for (const MicroBatch& batch : batches_) {
      ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
    }
    network_.begin_rows(ids);
    std::vector<at::Tensor> vectors;
    std::vector<int64_t> place(sequences.size());
    int64_t next = 0;
    for (size_t i = 0; i < batches_.size(); ++i) {
      if (stop_.stop_requested()) {
        return false;
      }
      outputs_.push_back(encode_one(i, !options_.cached_gradients));
      vectors.push_back(outputs_.back().detach());
      if (options_.cached_gradients) {
        outputs_.back().reset();
      }
      for (const size_t item : batches_[i].items) {
        place[item] = next++;
      }
    }
    place_ = at::tensor(place, at::kLong).to(vectors[0].device());
    leaf_ = at::cat(vectors, 0).requires_grad_(true);
    return true;
  }

  /// Vectors in the order of the sequences, with graph down to the micro-batches' outputs.
  at::Tensor vectors() const { return leaf_.index_select(0, place_); }

  /// Sends the gradient of `vectors` through every micro-batch. False when stopped.
  bool backward() {
    const at::Tensor gradient = leaf_.grad();
    int64_t first = 0;
    for (size_t i = 0; i < batches_.size(); ++i) {
      if (stop_.stop_requested()) {
        return false;
      }
      const auto count = static_cast<int64_t>(batches_[i].items.size());
      at::Tensor output = options_.cached_gradients ? encode_one(i, true) : outputs_[i];
      outputs_[i].reset();
      output.backward(gradient.narrow(0, first, count));
      first += count;
    }
    return true;
  }

 private:
  at::Tensor encode_one(size_t i, bool with_graph) {
    const c10::AutoGradMode graph(with_graph);
    return network_.encode(batches_[i], {.training = true, .seed = mix_seed(seed_, i)});
  }

  Network& network_;
  const StepOptions& options_;
  uint64_t seed_;
  const std::stop_token& stop_;
  std::vector<MicroBatch> batches_;
  std::vector<at::Tensor> outputs_;
  at::Tensor place_;
  at::Tensor leaf_;
};

}  // namespace

uint64_t mix_seed(uint64_t seed, uint64_t value) {
  uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (value + 1);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

std::vector<std::span<const int32_t>> batch_sequences(const StageItems& items, const Batch& batch) {
  std::vector<std::span<const int32_t>> sequences;
  for (const uint32_t document : batch.documents) {
    sequences.push_back(items.document_tokens.at(document));
  }
  for (const uint32_t question : batch.questions) {
    sequences.push_back(items.question_tokens.at(question));
  }
  return sequences;
}

at::Tensor guide_mask(const Guide& guide, const Batch& batch, const at::Tensor& positive,
                      double margin) {
  const c10::NoGradGuard no_grad;
  const at::Tensor scores =
      at::mm(guide.questions.index_select(0, index_tensor(batch.questions)),
             guide.documents.index_select(0, index_tensor(batch.documents)).t());
  const at::Tensor best = std::get<0>(scores.masked_fill(positive.logical_not(), -2).max(1, true));
  return (scores > best - margin).logical_and(positive.logical_not());
}

std::optional<double> add_gradients(Network& network, const StageItems& items, const Batch& batch,
                                    const Guide* guide, const StepOptions& options, uint64_t seed,
                                    const std::stop_token& stop) {
  Pass pass(network, options, seed, stop);
  if (!pass.encode(batch_sequences(items, batch))) {
    network.end_rows();
    return std::nullopt;
  }
  const auto documents = static_cast<int64_t>(batch.documents.size());
  const auto questions = static_cast<int64_t>(batch.questions.size());
  const at::Tensor vectors = pass.vectors();
  LossInput input;
  input.documents = vectors.narrow(0, 0, documents);
  input.questions = vectors.narrow(0, documents, questions);
  const at::Tensor positive =
      bool_tensor(positive_mask(items, batch), batch.questions.size(), batch.documents.size());
  if (guide != nullptr && options.mask_margin >= 0) {
    input.ignored = guide_mask(*guide, batch, positive, options.mask_margin).to(vectors.device());
  }
  input.positive = positive.to(vectors.device());
  input.scale = options.scale;
  input.symmetric = options.symmetric;
  const at::Tensor loss = ranking_loss(input);
  loss.backward();
  if (!pass.backward()) {
    network.end_rows();
    return std::nullopt;
  }
  return loss.item<double>();
}

}  // namespace sibyl::train
