#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/model_directory.h"

namespace sibyl::train {

/// For tests: writes a two-layer BERT of made-up weights and reads it back.
inline Result<std::shared_ptr<const model::ModelDirectory>> make_tiny_bert(
    const std::string& folder, const std::vector<std::string_view>& texts,
    std::vector<model::PoolingMode> pooling = {model::PoolingMode::Mean}) {
  const std::string tokenizer = text::learn_wordpiece_json(texts, 200);
  auto loaded = text::load_tokenizer_json(tokenizer);
  if (!loaded) {
    return pass_on(loaded);
  }
  model::TransformerToWrite out;
  out.shape = {.family = "bert",
               .layers = 2,
               .hidden = 16,
               .heads = 2,
               .intermediate = 32,
               .vocabulary = (*loaded)->vocabulary_size(),
               .positions = 64,
               .position_offset = 0,
               .token_types = 2,
               .layer_norm_epsilon = 1e-12F,
               .activation = "gelu",
               .tokens_max = 32,
               .lowercase = false,
               .tensors = nullptr};
  out.pooling = std::move(pooling);
  base::Random random(11);
  for (const model::TransformerTensorName& name : model::transformer_file_names(out.shape)) {
    model::NamedTensor tensor{name.file_name, name.shape, {}};
    size_t count = 1;
    for (const uint64_t size : name.shape) {
      count *= size;
    }
    const bool is_norm_weight = name.name.ends_with("norm.weight");
    for (size_t i = 0; i < count; ++i) {
      tensor.values.push_back(
          static_cast<float>((is_norm_weight ? 1.0 : 0.0) + 0.2 * random.normal()));
    }
    out.tensors.push_back(std::move(tensor));
  }
  auto written = model::write_model_directory(folder, out, tokenizer, {}, {});
  if (!written) {
    return pass_on(written);
  }
  return model::read_model_directory(folder);
}

}  // namespace sibyl::train
