#include <cmath>

#include "base/random.h"
#include "train/internal/network.h"
#include "train/internal/torch.h"

namespace sibyl::train {
namespace {

constexpr float kNormFloor = 1e-12F;

/// Mean of token rows, then unit length; a text without tokens is a zero vector.
class StaticNetwork final : public Network {
 public:
  explicit StaticNetwork(at::Tensor table) {
    table_ = {"embedding.weight", std::move(table), {}, {}};
  }

  at::Tensor encode(const MicroBatch& batch, const EncodeMode& mode) override {
    std::vector<int32_t> begins;
    int32_t begin = 0;
    for (const int32_t length : batch.lengths) {
      begins.push_back(begin);
      begin += length;
    }
    const at::Tensor& rows = mode.training ? table_.leaf : table_.value;
    const at::Tensor offsets = at::tensor(begins, at::kInt).to(rows.device());
    const at::Tensor sums =
        std::get<0>(at::embedding_bag(rows, token_rows(batch, mode.training), offsets,
                                      /*scale_grad_by_freq=*/false, /*mode=*/0, /*sparse=*/false));
    // The mean only scales the sum, which the unit length takes away again.
    return sums / sums.norm(2, 1, true).clamp_min(kNormFloor);
  }
  std::vector<Parameter>& parameters() override { return parameters_; }
  RowTable& table() override { return table_; }
  size_t dimension() const override { return static_cast<size_t>(table_.value.size(1)); }
  size_t graph_bytes_per_token() const override { return 16; }

 private:
  RowTable table_;
  std::vector<Parameter> parameters_;
};

}  // namespace

Result<std::unique_ptr<Network>> make_static_network(size_t vocabulary, size_t dimension,
                                                     std::span<const float> token_weights,
                                                     uint64_t seed, const NetworkOptions& options) {
  if (dimension == 0 || vocabulary == 0) {
    return fail_field(Code::InvalidConfig, "train.dimension",
                      "train.dimension is {} and the vocabulary {}; both must be at least 1",
                      dimension, vocabulary);
  }
  at::Tensor table = at::empty({static_cast<int64_t>(vocabulary), static_cast<int64_t>(dimension)});
  base::Random random(seed, 0x7ab1e);
  auto* values = table.data_ptr<float>();
  const double deviation = 1.0 / std::sqrt(static_cast<double>(dimension));
  for (size_t token = 0; token < vocabulary; ++token) {
    const double scale = deviation * (token < token_weights.size() ? token_weights[token] : 1.0);
    for (size_t i = 0; i < dimension; ++i) {
      values[token * dimension + i] = static_cast<float>(scale * random.normal());
    }
  }
  return std::make_unique<StaticNetwork>(table.to(options.device));
}

}  // namespace sibyl::train
