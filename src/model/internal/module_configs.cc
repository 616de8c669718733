#include "model/internal/module_configs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "model/internal/config_fields.h"

namespace sibyl::model {

namespace {

constexpr uint64_t kWidthMax = 1 << 20;
constexpr size_t kPromptBytesMax = 16'384;

struct ModeName {
  std::string_view old_key;
  std::string_view name;
  PoolingMode mode;
};
/// In the order in which several are concatenated.
constexpr std::array<ModeName, 6> kModes = {{
    {"pooling_mode_cls_token", "cls", PoolingMode::Cls},
    {"pooling_mode_max_tokens", "max", PoolingMode::Max},
    {"pooling_mode_mean_tokens", "mean", PoolingMode::Mean},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", PoolingMode::MeanSqrtLength},
    {"pooling_mode_weightedmean_tokens", "weightedmean", PoolingMode::WeightedMean},
    {"pooling_mode_lasttoken", "lasttoken", PoolingMode::LastToken},
}};

Result<PoolingMode> mode_by_name(const base::Json& value, const std::string& name) {
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    for (const ModeName& known : kModes) {
      if (known.name == text) {
        return known.mode;
      }
    }
  }
  return fail_field(Code::InvalidData, "pooling_mode",
                    "{}: pooling_mode {} is not known; there are cls, max, mean, "
                    "mean_sqrt_len_tokens, weightedmean, lasttoken",
                    name, base::dump_json(value));
}

Result<std::vector<PoolingMode>> named_modes(const base::Json& value, const std::string& name) {
  std::vector<PoolingMode> modes;
  const base::Json list = value.is_array() ? value : base::Json::array({value});
  if (list.empty() || list.size() > kModes.size()) {
    return fail_field(Code::InvalidData, "pooling_mode", "{}: pooling_mode must name 1 to {} modes",
                      name, kModes.size());
  }
  for (const base::Json& item : list) {
    auto mode = mode_by_name(item, name);
    if (!mode) {
      return pass_on(mode);
    }
    modes.push_back(*mode);
  }
  return modes;
}

/// A key of this module that changes what it computes and that is not known must not be passed
/// over.
Result<void> check_old_keys(const base::Json& config, const std::string& name) {
  for (const auto& [key, value] : config.items()) {
    const bool known = std::any_of(kModes.begin(), kModes.end(),
                                   [&](const ModeName& m) { return m.old_key == key; });
    if (key.starts_with("pooling_mode_") && !known && value.is_boolean() && value.get<bool>()) {
      return fail_field(Code::InvalidData, key, "{}: {} is not known", name, key);
    }
  }
  return {};
}

}  // namespace

Result<PoolingConfig> parse_pooling_config(std::string_view json, const std::string& name) {
  auto config = parse_config(json, name);
  if (!config) {
    return pass_on(config);
  }
  PoolingConfig out;
  ConfigFields fields(*config, name);
  out.width = fields.size("embedding_dimension",
                          fields.size("word_embedding_dimension", 0, 1, kWidthMax), 1, kWidthMax);
  out.module.include_prompt = fields.boolean("include_prompt", true);
  if (const base::Json* named = fields.find("pooling_mode"); named != nullptr) {
    auto modes = named_modes(*named, name);
    if (!modes) {
      return pass_on(modes);
    }
    out.module.modes = std::move(*modes);
  } else {
    auto known = check_old_keys(*config, name);
    if (!known) {
      return pass_on(known);
    }
    for (const ModeName& mode : kModes) {
      if (fields.boolean(mode.old_key, false)) {
        out.module.modes.push_back(mode.mode);
      }
    }
    if (out.module.modes.empty()) {
      out.module.modes.push_back(PoolingMode::Mean);
    }
  }
  auto checked = fields.finish();
  if (!checked) {
    return pass_on(checked);
  }
  return out;
}

std::string pooling_config_json(const std::vector<PoolingMode>& modes, size_t width) {
  base::Json out = {{"word_embedding_dimension", width}};
  for (const ModeName& known : kModes) {
    out[std::string(known.old_key)] =
        std::find(modes.begin(), modes.end(), known.mode) != modes.end();
  }
  out["include_prompt"] = true;
  return base::dump_json(out, 2) + "\n";
}

Result<DenseConfig> parse_dense_config(std::string_view json, const std::string& name) {
  auto config = parse_config(json, name);
  if (!config) {
    return pass_on(config);
  }
  DenseConfig out;
  ConfigFields fields(*config, name);
  out.module.in = fields.required_size("in_features", 1, kWidthMax);
  out.module.out = fields.required_size("out_features", 1, kWidthMax);
  out.has_bias = fields.boolean("bias", true);
  const std::string path = fields.text("activation_function", "torch.nn.modules.activation.Tanh");
  const bool residual = fields.boolean("use_residual", false);
  const std::string input = fields.text("module_input_name", "sentence_embedding");
  const std::string output = fields.text("module_output_name", input);
  auto checked = fields.finish();
  if (!checked) {
    return pass_on(checked);
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kActivations = {{
      {"Tanh", "tanh"},
      {"Identity", "identity"},
      {"ReLU", "relu"},
      {"GELU", "gelu"},
      {"Sigmoid", "sigmoid"},
  }};
  for (const auto& [theirs, ours] : kActivations) {
    if (path.substr(path.rfind('.') + 1) == theirs) {
      out.module.activation = ours;
    }
  }
  if (out.module.activation.empty()) {
    return fail_field(Code::InvalidData, "activation_function",
                      "{}: activation_function '{}' has no kernel here; there are Tanh, Identity, "
                      "ReLU, GELU, Sigmoid",
                      name, path);
  }
  if (residual || input != "sentence_embedding" || output != "sentence_embedding") {
    return fail(Code::InvalidData,
                "{}: use_residual, or another input or output than sentence_embedding, has no "
                "kernel here",
                name);
  }
  return out;
}

Result<SentenceConfig> parse_sentence_config(std::string_view json, const std::string& name) {
  auto config = parse_config(json, name);
  if (!config) {
    return pass_on(config);
  }
  ConfigFields fields(*config, name);
  SentenceConfig out;
  out.tokens_max = fields.size("max_seq_length", 0, 1, 1ULL << 32);
  out.lowercase = fields.boolean("do_lower_case", false);
  const std::string task = fields.text("transformer_task", "feature-extraction");
  auto checked = fields.finish();
  if (!checked) {
    return pass_on(checked);
  }
  if (task != "feature-extraction") {
    return fail_field(Code::InvalidData, "transformer_task",
                      "{}: transformer_task '{}' has no kernel here; feature-extraction has", name,
                      task);
  }
  return out;
}

Result<std::map<std::string, std::string>> parse_prompts(std::string_view json,
                                                         const std::string& name) {
  auto config = parse_config(json, name);
  if (!config) {
    return pass_on(config);
  }
  ConfigFields fields(*config, name);
  const base::Json* prompts = fields.find("prompts");
  std::map<std::string, std::string> out;
  if (prompts == nullptr) {
    return out;
  }
  if (!prompts->is_object()) {
    return fail_field(Code::InvalidData, "prompts", "{}: prompts must be an object", name);
  }
  ConfigFields texts(*prompts, name);
  const auto choose = [&](std::string_view ours, std::initializer_list<std::string_view> names) {
    for (const std::string_view candidate : names) {
      if (texts.has(candidate)) {
        const std::string text = texts.text(candidate, "");
        if (!text.empty()) {
          out[std::string(ours)] = text;
        }
        return;
      }
    }
  };
  choose("query", {"query"});
  choose("document", {"document", "passage", "corpus"});
  auto checked = texts.finish();
  if (!checked) {
    return pass_on(checked);
  }
  for (const auto& [key, text] : out) {
    if (text.size() > kPromptBytesMax) {
      return fail_field(Code::InvalidData, "prompts", "{}: prompt '{}' is longer than {} bytes",
                        name, key, kPromptBytesMax);
    }
  }
  return out;
}

}  // namespace sibyl::model
