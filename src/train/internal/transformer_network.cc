#include "base/check.h"
#include "train/internal/attention.h"
#include "train/internal/network.h"
#include "train/internal/pooling.h"
#include "train/internal/torch.h"

namespace sibyl::train {
namespace {

using model::TransformerModule;

constexpr float kNormFloor = 1e-12F;

/// One encoder layer; queries, keys and values are one matrix.
struct Layer {
  at::Tensor qkv_weight, qkv_bias;
  at::Tensor attention_weight, attention_bias;
  at::Tensor attention_norm_weight, attention_norm_bias;
  at::Tensor intermediate_weight, intermediate_bias;
  at::Tensor output_weight, output_bias;
  at::Tensor output_norm_weight, output_norm_bias;
};

Result<at::Tensor> load_tensor(const TransformerModule& module, const std::string& name) {
  const model::TensorView* view = model::transformer_tensor(module, name);
  if (view == nullptr) {
    return fail(Code::InvalidData, "the base model lacks the tensor {}", name);
  }
  auto values = model::to_floats(*view);
  if (!values) {
    return pass_on(values, name);
  }
  std::vector<int64_t> shape(view->shape.begin(), view->shape.end());
  at::Tensor out = at::empty(shape);
  base::check(static_cast<size_t>(out.numel()) == values->size(), "tensor has its shape's values");
  std::copy(values->begin(), values->end(), out.data_ptr<float>());
  return out;
}

class TransformerNetwork final : public Network {
 public:
  TransformerNetwork(TransformerModule shape, std::vector<model::PoolingMode> pooling,
                     const NetworkOptions& options)
      : shape_(std::move(shape)), pooling_(std::move(pooling)), options_(options) {}

  Result<void> load() {
    auto word = load_tensor(shape_, "embeddings.word");
    if (!word) {
      return pass_on(word);
    }
    table_ = {"embeddings.word", word->to(options_.device), {}, {}};
    load_into(position_, "embeddings.position", true);
    if (shape_.token_types > 0) {
      load_into(type_, "embeddings.type", true);
    }
    load_into(norm_weight_, "embeddings.norm.weight", false);
    load_into(norm_bias_, "embeddings.norm.bias", false);
    layers_.resize(shape_.layers);
    for (size_t i = 0; i < shape_.layers; ++i) {
      load_layer(layers_[i], fmt::format("layer.{}.", i));
    }
    return std::move(loaded_);
  }

  at::Tensor encode(const MicroBatch& batch, const EncodeMode& mode) override {
    const double dropout = mode.training ? options_.dropout : 0.0;
    if (dropout > 0) {
      at::Generator generator = at::globalContext().defaultGenerator(options_.device);
      generator.set_current_seed(mode.seed);
    }
    at::Tensor x = embed(batch, mode.training);
    x = at::dropout(x, dropout, dropout > 0);
    for (const Layer& layer : layers_) {
      x = run_layer(layer, x, batch, dropout);
    }
    const at::Tensor pooled = pool(x, batch, pooling_);
    return pooled / pooled.norm(2, 1, true).clamp_min(kNormFloor);
  }

  std::vector<Parameter>& parameters() override { return parameters_; }
  RowTable& table() override { return table_; }
  size_t dimension() const override { return shape_.hidden * pooling_.size(); }
  size_t graph_bytes_per_token() const override {
    // Per layer: input, queries/keys/values twice, context, sums and norms, intermediate before and
    // after the activation, attention weights at about 128 keys; dropout adds its masks.
    const size_t values =
        shape_.layers * (14 * shape_.hidden + 3 * shape_.intermediate + 3 * 128 * shape_.heads);
    return values * sizeof(float);
  }

 private:
  at::Tensor embed(const MicroBatch& batch, bool training) {
    std::vector<int64_t> positions;
    positions.reserve(batch.ids.size());
    for (const MicroBatch::Run& run : batch.runs) {
      for (size_t i = 0; i < run.count; ++i) {
        for (size_t place = 0; place < run.length; ++place) {
          positions.push_back(static_cast<int64_t>(shape_.position_offset + place));
        }
      }
    }
    const at::Tensor places = at::tensor(positions, at::kLong).to(options_.device);
    at::Tensor sum = embed_tokens(batch, training) + at::embedding(position_, places);
    if (type_.defined()) {
      sum = sum + type_.select(0, 0);
    }
    return norm(sum, norm_weight_, norm_bias_);
  }

  at::Tensor run_layer(const Layer& layer, const at::Tensor& x, const MicroBatch& batch,
                       double dropout) {
    const AttentionShape shape{.heads = static_cast<int64_t>(shape_.heads),
                               .width = static_cast<int64_t>(shape_.hidden / shape_.heads),
                               .dropout = dropout};
    const at::Tensor qkv = at::linear(x, layer.qkv_weight, layer.qkv_bias);
    at::Tensor attended =
        at::linear(self_attention(qkv, batch, shape), layer.attention_weight, layer.attention_bias);
    attended = at::dropout(attended, dropout, dropout > 0);
    const at::Tensor middle =
        norm(attended + x, layer.attention_norm_weight, layer.attention_norm_bias);
    at::Tensor wide =
        activate(at::linear(middle, layer.intermediate_weight, layer.intermediate_bias));
    at::Tensor out = at::linear(wide, layer.output_weight, layer.output_bias);
    out = at::dropout(out, dropout, dropout > 0);
    return norm(out + middle, layer.output_norm_weight, layer.output_norm_bias);
  }

  at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) const {
    return at::layer_norm(x, {static_cast<int64_t>(shape_.hidden)}, weight, bias,
                          static_cast<double>(shape_.layer_norm_epsilon));
  }

  at::Tensor activate(const at::Tensor& x) const {
    if (shape_.activation == "relu") {
      return at::relu(x);
    }
    return at::gelu(x, shape_.activation == "gelu_new" ? "tanh" : "none");
  }

  void load_into(at::Tensor& to, const std::string& name, bool decays) {
    if (!loaded_) {
      return;
    }
    auto value = load_tensor(shape_, name);
    if (!value) {
      loaded_ = tl::unexpected<Error>(std::move(value.error()));
      return;
    }
    add_parameter(to, name, std::move(*value), decays);
  }

  void add_parameter(at::Tensor& to, const std::string& name, at::Tensor value, bool decays) {
    to = value.to(options_.device).requires_grad_(true);
    parameters_.push_back({name, to, decays});
  }

  /// Queries, keys and values one under another, as one parameter "PREFIXqkv.weight".
  void load_joined(at::Tensor& to, const std::string& prefix, const std::string& kind) {
    std::vector<at::Tensor> parts;
    for (const char* part : {"query", "key", "value"}) {
      if (!loaded_) {
        return;
      }
      auto value = load_tensor(shape_, fmt::format("{}{}.{}", prefix, part, kind));
      if (!value) {
        loaded_ = tl::unexpected<Error>(std::move(value.error()));
        return;
      }
      parts.push_back(std::move(*value));
    }
    add_parameter(to, fmt::format("{}qkv.{}", prefix, kind), at::cat(parts, 0), kind == "weight");
  }

  void load_layer(Layer& layer, const std::string& prefix) {
    load_joined(layer.qkv_weight, prefix, "weight");
    load_joined(layer.qkv_bias, prefix, "bias");
    load_into(layer.attention_weight, prefix + "attention_output.weight", true);
    load_into(layer.attention_bias, prefix + "attention_output.bias", false);
    load_into(layer.attention_norm_weight, prefix + "attention_norm.weight", false);
    load_into(layer.attention_norm_bias, prefix + "attention_norm.bias", false);
    load_into(layer.intermediate_weight, prefix + "intermediate.weight", true);
    load_into(layer.intermediate_bias, prefix + "intermediate.bias", false);
    load_into(layer.output_weight, prefix + "output.weight", true);
    load_into(layer.output_bias, prefix + "output.bias", false);
    load_into(layer.output_norm_weight, prefix + "output_norm.weight", false);
    load_into(layer.output_norm_bias, prefix + "output_norm.bias", false);
  }

  TransformerModule shape_;
  std::vector<model::PoolingMode> pooling_;
  NetworkOptions options_;
  RowTable table_;
  at::Tensor position_, type_, norm_weight_, norm_bias_;
  std::vector<Layer> layers_;
  std::vector<Parameter> parameters_;
  Result<void> loaded_;
};

}  // namespace

Result<std::unique_ptr<Network>> make_transformer_network(const model::ModelDirectory& base,
                                                          const NetworkOptions& options) {
  const TransformerModule* transformer = nullptr;
  std::vector<model::PoolingMode> pooling;
  for (const model::Module& module : base.modules) {
    if (const auto* found = std::get_if<TransformerModule>(&module)) {
      transformer = found;
    } else if (const auto* pool_module = std::get_if<model::PoolingModule>(&module)) {
      pooling = pool_module->modes;
    } else if (!std::holds_alternative<model::NormalizeModule>(module)) {
      return fail(Code::FailedPrecondition,
                  "the base model {} has a module that training does not support; transformer, "
                  "pooling and normalisation are supported",
                  base.path);
    }
  }
  if (transformer == nullptr || pooling.empty()) {
    return fail(Code::FailedPrecondition, "the base model {} is not a transformer with pooling",
                base.path);
  }
  auto network = std::make_unique<TransformerNetwork>(*transformer, std::move(pooling), options);
  auto loaded = network->load();
  if (!loaded) {
    return pass_on(loaded);
  }
  return network;
}

}  // namespace sibyl::train
