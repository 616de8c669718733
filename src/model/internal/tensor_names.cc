#include "model/internal/tensor_names.h"

#include <array>
#include <utility>

namespace sibyl::model {

namespace {

struct PartName {
  std::string_view ours;
  std::string_view theirs;
};

constexpr std::array<PartName, 8> kBertParts = {{
    {"query", "attention.self.query"},
    {"key", "attention.self.key"},
    {"value", "attention.self.value"},
    {"attention_output", "attention.output.dense"},
    {"attention_norm", "attention.output.LayerNorm"},
    {"intermediate", "intermediate.dense"},
    {"output", "output.dense"},
    {"output_norm", "output.LayerNorm"},
}};
constexpr std::array<PartName, 8> kDistilBertParts = {{
    {"query", "attention.q_lin"},
    {"key", "attention.k_lin"},
    {"value", "attention.v_lin"},
    {"attention_output", "attention.out_lin"},
    {"attention_norm", "sa_layer_norm"},
    {"intermediate", "ffn.lin1"},
    {"output", "ffn.lin2"},
    {"output_norm", "output_layer_norm"},
}};

/// Heads for other tasks put the encoder below a name of its own.
constexpr std::array<std::string_view, 5> kPrefixes = {"", "bert.", "roberta.", "distilbert.",
                                                       "model."};

std::vector<uint64_t> part_shape(const TransformerModule& shape, std::string_view part,
                                 bool weight) {
  if (part == "intermediate") {
    return weight ? std::vector<uint64_t>{shape.intermediate, shape.hidden}
                  : std::vector<uint64_t>{shape.intermediate};
  }
  if (part == "output" && weight) {
    return {shape.hidden, shape.intermediate};
  }
  if (!weight || part.ends_with("_norm")) {
    return {shape.hidden};
  }
  return {shape.hidden, shape.hidden};
}

/// The file's name for one of our names; empty when there is no such weight.
std::string file_name_of(const std::string& family, std::string_view name) {
  const bool distil = family == "distilbert";
  if (name == "embeddings.word") {
    return "embeddings.word_embeddings.weight";
  }
  if (name == "embeddings.position") {
    return "embeddings.position_embeddings.weight";
  }
  if (name == "embeddings.type") {
    return distil ? "" : "embeddings.token_type_embeddings.weight";
  }
  if (name == "embeddings.norm.weight" || name == "embeddings.norm.bias") {
    return fmt::format("embeddings.LayerNorm.{}", name.substr(name.rfind('.') + 1));
  }
  const size_t number_end = name.find('.', 6);
  const size_t last = name.rfind('.');
  if (!name.starts_with("layer.") || number_end == std::string_view::npos || last <= number_end) {
    return {};
  }
  const std::string_view part = name.substr(number_end + 1, last - number_end - 1);
  for (const PartName& known : distil ? kDistilBertParts : kBertParts) {
    if (known.ours == part) {
      return fmt::format("{}.layer.{}.{}.{}", distil ? "transformer" : "encoder",
                         name.substr(6, number_end - 6), known.theirs, name.substr(last + 1));
    }
  }
  return {};
}

}  // namespace

const TensorView* transformer_tensor(const TransformerModule& module, std::string_view name) {
  const std::string file_name = file_name_of(module.family, name);
  if (file_name.empty() || module.tensors == nullptr) {
    return nullptr;
  }
  for (const std::string_view prefix : kPrefixes) {
    const TensorView* found = module.tensors->find(fmt::format("{}{}", prefix, file_name));
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

std::vector<TransformerTensorName> transformer_file_names(const TransformerModule& shape) {
  std::vector<TransformerTensorName> out;
  const auto add = [&](std::string name, std::vector<uint64_t> lengths) {
    std::string file_name = file_name_of(shape.family, name);
    out.push_back({std::move(name), std::move(file_name), std::move(lengths)});
  };
  add("embeddings.word", {shape.vocabulary, shape.hidden});
  add("embeddings.position", {shape.positions, shape.hidden});
  if (shape.token_types > 0) {
    add("embeddings.type", {shape.token_types, shape.hidden});
  }
  add("embeddings.norm.weight", {shape.hidden});
  add("embeddings.norm.bias", {shape.hidden});
  for (size_t layer = 0; layer < shape.layers; ++layer) {
    for (const PartName& part : kBertParts) {
      for (const bool weight : {true, false}) {
        add(fmt::format("layer.{}.{}.{}", layer, part.ours, weight ? "weight" : "bias"),
            part_shape(shape, part.ours, weight));
      }
    }
  }
  return out;
}

Result<void> check_tensor(const TensorView* tensor, std::string_view tensor_name,
                          const std::vector<uint64_t>& shape, const std::string& name) {
  if (tensor == nullptr) {
    return fail(Code::InvalidData, "{}: tensor '{}' is missing", name, tensor_name);
  }
  if (tensor->shape != shape) {
    return fail(Code::InvalidData, "{}: tensor '{}' has shape [{}]; it must be [{}]", name,
                tensor_name, fmt::join(tensor->shape, ", "), fmt::join(shape, ", "));
  }
  if (tensor->type != TensorType::F32 && tensor->type != TensorType::F16 &&
      tensor->type != TensorType::BF16 && tensor->type != TensorType::F64) {
    return fail(Code::InvalidData, "{}: tensor '{}' has type {}; it must be F32, F16, BF16 or F64",
                name, tensor_name, type_name(tensor->type));
  }
  return {};
}

Result<void> check_transformer_tensors(const TransformerModule& module, const std::string& name) {
  for (const TransformerTensorName& wanted : transformer_file_names(module)) {
    auto checked =
        check_tensor(transformer_tensor(module, wanted.name), wanted.file_name, wanted.shape, name);
    if (!checked) {
      return pass_on(checked);
    }
  }
  return {};
}

}  // namespace sibyl::model
