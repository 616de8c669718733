#include "model/internal/transformer_config.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "model/internal/config_fields.h"

namespace sibyl::model {

namespace {

constexpr uint64_t kLayersMax = 256;
constexpr uint64_t kWidthMax = 1 << 16;
constexpr uint64_t kVocabularyMax = 1 << 22;
constexpr uint64_t kPositionsMax = 1 << 20;

Result<std::string> known_activation(const std::string& text, const std::string& name) {
  if (text == "gelu" || text == "relu" || text == "gelu_new") {
    return text;
  }
  if (text == "gelu_pytorch_tanh") {
    return "gelu_new";
  }
  return fail_field(Code::InvalidData, "hidden_act",
                    "{}: activation '{}' has no kernel here; there are gelu, relu, gelu_new, "
                    "gelu_pytorch_tanh",
                    name, text);
}

/// DistilBERT has its own names for the same sizes, and no token types.
void read_distilbert(ConfigFields& fields, TransformerModule& out) {
  out.layers = fields.required_size("n_layers", 1, kLayersMax);
  out.hidden = fields.required_size("dim", 1, kWidthMax);
  out.heads = fields.required_size("n_heads", 1, kWidthMax);
  out.intermediate = fields.required_size("hidden_dim", 1, kWidthMax);
  out.activation = fields.text("activation", "gelu");
}

void read_bert(ConfigFields& fields, TransformerModule& out) {
  out.layers = fields.required_size("num_hidden_layers", 1, kLayersMax);
  out.hidden = fields.required_size("hidden_size", 1, kWidthMax);
  out.heads = fields.required_size("num_attention_heads", 1, kWidthMax);
  out.intermediate = fields.required_size("intermediate_size", 1, kWidthMax);
  out.token_types = fields.size("type_vocab_size", 2, 1, 1024);
  out.layer_norm_epsilon = static_cast<float>(fields.number("layer_norm_eps", 1e-12, 0, 1));
  out.activation = fields.text("hidden_act", "gelu");
}

Result<void> check_sizes(const TransformerModule& module, const std::string& name) {
  if (module.hidden % module.heads != 0) {
    return fail(Code::InvalidData, "{}: {} hidden values cannot be cut into {} equal heads", name,
                module.hidden, module.heads);
  }
  if (module.positions <= module.position_offset) {
    return fail(Code::InvalidData,
                "{}: max_position_embeddings {} leaves no position after the {} "
                "reserved ones",
                name, module.positions, module.position_offset);
  }
  return {};
}

}  // namespace

Result<TransformerModule> parse_transformer_config(std::string_view json, const std::string& name) {
  auto config = parse_config(json, name);
  if (!config) {
    return pass_on(config);
  }
  ConfigFields fields(*config, name);
  TransformerModule out;
  const std::string type = fields.text("model_type", "");
  out.family = type == "camembert" ? "roberta" : type;
  constexpr std::array<std::string_view, 4> kFamilies = {"bert", "roberta", "xlm-roberta",
                                                         "distilbert"};
  if (std::find(kFamilies.begin(), kFamilies.end(), out.family) == kFamilies.end()) {
    return fail_field(Code::InvalidData, "model_type",
                      "{}: model_type '{}' has no kernel here; there are bert, roberta, "
                      "xlm-roberta, camembert, distilbert",
                      name, type);
  }
  const std::string position_type = fields.text("position_embedding_type", "absolute");
  if (position_type != "absolute" || fields.boolean("is_decoder", false)) {
    return fail(Code::InvalidData,
                "{}: position_embedding_type '{}' or is_decoder has no kernel here; encoders with "
                "absolute positions do",
                name, position_type);
  }
  out.vocabulary = fields.required_size("vocab_size", 1, kVocabularyMax);
  out.positions = fields.required_size("max_position_embeddings", 1, kPositionsMax);
  if (out.family == "distilbert") {
    read_distilbert(fields, out);
  } else {
    read_bert(fields, out);
  }
  if (out.family == "roberta" || out.family == "xlm-roberta") {
    out.position_offset = fields.size("pad_token_id", 1, 0, kPositionsMax) + 1;
  }
  auto checked = fields.finish();
  if (!checked) {
    return pass_on(checked);
  }
  auto activation = known_activation(out.activation, name);
  if (!activation) {
    return pass_on(activation);
  }
  out.activation = *activation;
  auto sizes = check_sizes(out, name);
  if (!sizes) {
    return pass_on(sizes);
  }
  return out;
}

base::Json transformer_config_json(const TransformerModule& shape) {
  base::Json out = base::Json::object();
  if (shape.family == "distilbert") {
    out = {{"architectures", {"DistilBertModel"}},
           {"model_type", "distilbert"},
           {"activation", shape.activation},
           {"attention_dropout", 0.1},
           {"dim", shape.hidden},
           {"dropout", 0.1},
           {"hidden_dim", shape.intermediate},
           {"max_position_embeddings", shape.positions},
           {"n_heads", shape.heads},
           {"n_layers", shape.layers},
           {"pad_token_id", 0},
           {"sinusoidal_pos_embds", false},
           {"vocab_size", shape.vocabulary}};
    return out;
  }
  const char* architecture = shape.family == "bert"      ? "BertModel"
                             : shape.family == "roberta" ? "RobertaModel"
                                                         : "XLMRobertaModel";
  out = {{"architectures", {architecture}},
         {"model_type", shape.family},
         {"attention_probs_dropout_prob", 0.1},
         {"hidden_act", shape.activation},
         {"hidden_dropout_prob", 0.1},
         {"hidden_size", shape.hidden},
         {"initializer_range", 0.02},
         {"intermediate_size", shape.intermediate},
         {"layer_norm_eps", static_cast<double>(shape.layer_norm_epsilon)},
         {"max_position_embeddings", shape.positions},
         {"num_attention_heads", shape.heads},
         {"num_hidden_layers", shape.layers},
         {"pad_token_id", shape.position_offset == 0 ? 0 : shape.position_offset - 1},
         {"position_embedding_type", "absolute"},
         {"type_vocab_size", shape.token_types},
         {"vocab_size", shape.vocabulary}};
  if (shape.family != "bert") {
    out["bos_token_id"] = 0;
    out["eos_token_id"] = 2;
  }
  return out;
}

}  // namespace sibyl::model
