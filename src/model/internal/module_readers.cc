#include "model/internal/module_readers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "model/internal/config_fields.h"
#include "model/internal/module_configs.h"
#include "model/internal/tensor_names.h"
#include "model/internal/transformer_config.h"

namespace sibyl::model {

namespace {

/// The tokenizer's own limit; files without one hold 1e30.
Result<size_t> tokenizer_limit(const std::string& folder) {
  const std::string path = base::join_path(folder, "tokenizer_config.json");
  if (!base::real_file_system().exists(path)) {
    return 0;
  }
  auto config = read_config(path);
  if (!config) {
    return pass_on(config);
  }
  const auto limit = config->find("model_max_length");
  if (limit == config->end() || !limit->is_number()) {
    return 0;
  }
  const double tokens = limit->get<double>();
  return tokens >= 1 && tokens < 1e9 ? static_cast<size_t>(tokens) : 0;
}

Result<SentenceConfig> read_sentence_config(const std::string& folder) {
  for (const char* kind :
       {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
    const std::string path = base::join_path(folder, fmt::format("sentence_{}_config.json", kind));
    if (base::real_file_system().exists(path)) {
      auto text = base::read_file(path, kConfigBytesMax);
      if (!text) {
        return pass_on(text);
      }
      return parse_sentence_config(*text, path);
    }
  }
  return SentenceConfig{};
}

/// Tokens that fit: the model's own wish, else the tokenizer's, never more than the positions.
Result<size_t> tokens_max_of(const TransformerModule& module, const SentenceConfig& sentence,
                             const std::string& folder) {
  size_t wanted = sentence.tokens_max;
  if (wanted == 0) {
    auto limit = tokenizer_limit(folder);
    if (!limit) {
      return pass_on(limit);
    }
    wanted = *limit;
  }
  const size_t positions = module.positions - module.position_offset;
  return wanted == 0 ? positions : std::min(wanted, positions);
}

}  // namespace

Result<std::shared_ptr<const SafeTensors>> open_weights(const std::string& folder) {
  base::FileSystem& files = base::real_file_system();
  const std::string path = base::join_path(folder, "model.safetensors");
  if (files.exists(path)) {
    return SafeTensors::open(path);
  }
  if (files.exists(base::join_path(folder, "model.safetensors.index.json"))) {
    return fail(Code::InvalidData,
                "{}: the weights are cut into shards; save them as one model.safetensors", folder);
  }
  if (files.exists(base::join_path(folder, "pytorch_model.bin"))) {
    return fail(
        Code::InvalidData,
        "{}: pytorch_model.bin is a Python pickle, which can run code and is not read; save "
        "the model as model.safetensors",
        folder);
  }
  return fail(Code::InvalidData, "{}: model.safetensors is missing", folder);
}

Result<TransformerModule> read_transformer(const std::string& folder) {
  const std::string config_path = base::join_path(folder, "config.json");
  auto config = base::read_file(config_path, kConfigBytesMax);
  if (!config) {
    return pass_on(config);
  }
  auto module = parse_transformer_config(*config, config_path);
  if (!module) {
    return pass_on(module);
  }
  auto sentence = read_sentence_config(folder);
  if (!sentence) {
    return pass_on(sentence);
  }
  module->lowercase = sentence->lowercase;
  auto tokens_max = tokens_max_of(*module, *sentence, folder);
  if (!tokens_max) {
    return pass_on(tokens_max);
  }
  module->tokens_max = *tokens_max;
  auto weights = open_weights(folder);
  if (!weights) {
    return pass_on(weights);
  }
  module->tensors = *weights;
  auto checked = check_transformer_tensors(*module, base::join_path(folder, "model.safetensors"));
  if (!checked) {
    return pass_on(checked);
  }
  return module;
}

Result<PoolingModule> read_pooling(const std::string& folder, size_t width) {
  const std::string path = base::join_path(folder, "config.json");
  if (folder.empty() || !base::real_file_system().exists(path)) {
    return PoolingModule{{PoolingMode::Mean}, true};
  }
  auto text = base::read_file(path, kConfigBytesMax);
  if (!text) {
    return pass_on(text);
  }
  auto config = parse_pooling_config(*text, path);
  if (!config) {
    return pass_on(config);
  }
  if (config->width != 0 && config->width != width) {
    return fail(Code::InvalidData, "{}: token vectors have {} values here, but {} come in", path,
                config->width, width);
  }
  return config->module;
}

Result<DenseModule> read_dense(const std::string& folder) {
  const std::string path = base::join_path(folder, "config.json");
  auto text = base::read_file(path, kConfigBytesMax);
  if (!text) {
    return pass_on(text);
  }
  auto config = parse_dense_config(*text, path);
  if (!config) {
    return pass_on(config);
  }
  auto weights = open_weights(folder);
  if (!weights) {
    return pass_on(weights);
  }
  DenseModule& module = config->module;
  const std::string name = base::join_path(folder, "model.safetensors");
  const TensorView* weight = (*weights)->find("linear.weight");
  auto checked = check_tensor(weight, "linear.weight", {module.out, module.in}, name);
  module.bias.assign(module.out, 0.0F);
  if (checked && config->has_bias) {
    checked = check_tensor((*weights)->find("linear.bias"), "linear.bias", {module.out}, name);
  }
  if (!checked) {
    return pass_on(checked);
  }
  module.weight = to_floats(*weight).value();
  if (config->has_bias) {
    module.bias = to_floats(*(*weights)->find("linear.bias")).value();
  }
  return module;
}

}  // namespace sibyl::model
