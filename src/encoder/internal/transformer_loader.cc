#include "encoder/internal/transformer_loader.h"

#include <bit>
#include <thread>
#include <utility>

#include "encoder/internal/transformer.h"

namespace sibyl::encoder {

namespace {

/// The exponent bits of infinities and NaN; without branches, for tens of millions of values.
bool all_finite(const float* values, size_t count) {
  constexpr uint32_t kExponent = 0x7F800000U;
  uint32_t bad = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t exponent = std::bit_cast<uint32_t>(values[i]) & kExponent;
    bad |= static_cast<uint32_t>(exponent == kExponent);
  }
  return bad == 0;
}

}  // namespace

Transformer::Loader::Loader(const model::TransformerModule& module, bool force_own_kernel)
    : module_(module), out_(new Transformer()) {
  out_->hidden_ = module.hidden;
  out_->heads_ = module.heads;
  out_->intermediate_ = module.intermediate;
  out_->vocabulary_ = module.vocabulary;
  out_->position_offset_ = module.position_offset;
  out_->epsilon_ = module.layer_norm_epsilon;
  out_->activation_ = module.activation == "relu"       ? Activation::Relu
                      : module.activation == "gelu_new" ? Activation::GeluTanh
                                                        : Activation::Gelu;
  out_->tensors_ = module.tensors;
  out_->products_ = Products::open({{module.hidden, 3 * module.hidden},
                                    {module.hidden, module.hidden},
                                    {module.hidden, module.intermediate},
                                    {module.intermediate, module.hidden}},
                                   force_own_kernel);
}

std::vector<float> Transformer::Loader::take(const std::string& name) {
  const model::TensorView* tensor = model::transformer_tensor(module_, name);
  if (tensor == nullptr) {
    note(fmt::format("weight '{}' is missing", name));
    return {};
  }
  auto values = model::to_floats(*tensor);
  if (!values) {
    note(fmt::format("weight '{}': {}", name, values.error().message));
    return {};
  }
  if (!all_finite(values->data(), values->size())) {
    note(fmt::format("weight '{}' holds infinities or NaN; the model is damaged", name));
  }
  return std::move(*values);
}

void Transformer::Loader::note(std::string message) {
  if (!error_) {
    error_ = Error{Code::InvalidData, std::move(message), {}};
  }
}

/// The word table is the largest tensor; it is read in place where its bytes can be.
void Transformer::Loader::load_words() {
  const model::TensorView* tensor = model::transformer_tensor(module_, "embeddings.word");
  const bool in_place = tensor != nullptr && tensor->type == model::TensorType::F32 &&
                        reinterpret_cast<uintptr_t>(tensor->bytes.data()) % alignof(float) == 0;
  if (!in_place) {
    out_->words_copy_ = take("embeddings.word");
    out_->words_ = out_->words_copy_.data();
    return;
  }
  out_->words_ = reinterpret_cast<const float*>(tensor->bytes.data());
  if (!all_finite(out_->words_, tensor->elements())) {
    note("weight 'embeddings.word' holds infinities or NaN; the model is damaged");
  }
}

void Transformer::Loader::load_embeddings() {
  load_words();
  out_->positions_ = take("embeddings.position");
  if (module_.token_types > 0) {
    // One text is of the first type throughout, so its vector can be added once.
    const std::vector<float> types = take("embeddings.type");
    for (size_t i = 0; !error_ && i < out_->positions_.size(); ++i) {
      out_->positions_[i] += types[i % module_.hidden];
    }
  }
  out_->embedding_gain_ = take("embeddings.norm.weight");
  out_->embedding_shift_ = take("embeddings.norm.bias");
}

std::unique_ptr<const PackedWeights> Transformer::Loader::pack(const std::string& name,
                                                               ProductShape shape) {
  const std::vector<float> values = take(name + ".weight");
  return error_ ? nullptr : out_->products_->pack(values.data(), shape);
}

void Transformer::Loader::load_layer(size_t index) {
  const std::string layer = fmt::format("layer.{}.", index);
  const size_t hidden = module_.hidden;
  Layer out;
  std::vector<float> projections;
  for (const char* part : {"query", "key", "value"}) {
    const std::vector<float> weight = take(layer + part + ".weight");
    const std::vector<float> bias = take(layer + part + ".bias");
    projections.insert(projections.end(), weight.begin(), weight.end());
    out.projection_bias.insert(out.projection_bias.end(), bias.begin(), bias.end());
  }
  if (!error_) {
    out.projections = out_->products_->pack(projections.data(), {hidden, 3 * hidden});
  }
  out.attention_output = pack(layer + "attention_output", {hidden, hidden});
  out.attention_bias = take(layer + "attention_output.bias");
  out.attention_gain = take(layer + "attention_norm.weight");
  out.attention_shift = take(layer + "attention_norm.bias");
  out.intermediate = pack(layer + "intermediate", {hidden, module_.intermediate});
  out.intermediate_bias = take(layer + "intermediate.bias");
  out.output = pack(layer + "output", {module_.intermediate, hidden});
  out.output_bias = take(layer + "output.bias");
  out.output_gain = take(layer + "output_norm.weight");
  out.output_shift = take(layer + "output_norm.bias");
  out_->layers_.push_back(std::move(out));
}

Result<std::unique_ptr<const Transformer>> Transformer::Loader::load() {
  load_embeddings();
  for (size_t i = 0; !error_ && i < module_.layers; ++i) {
    load_layer(i);
  }
  if (error_) {
    return tl::unexpected<Error>(std::move(*error_));
  }
  return std::unique_ptr<const Transformer>(std::move(out_));
}

Result<std::unique_ptr<const Transformer>> Transformer::open(const model::TransformerModule& module,
                                                             bool force_own_kernel) {
  Result<std::unique_ptr<const Transformer>> out;
  // Packing runs on oneDNN too; a thread of its own leaves the caller's OpenMP setting alone, and
  // no idle OpenMP threads spin beside the workers.
  std::jthread([&] {
    use_one_thread();
    out = Loader(module, force_own_kernel).load();
  }).join();
  return out;
}

}  // namespace sibyl::encoder
