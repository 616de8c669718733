#include <array>
#include <cstring>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "model/internal/config_fields.h"
#include "model/internal/module_readers.h"

namespace sibyl::model {

namespace {

constexpr size_t kModel2VecTokensMax = 512;

Result<void> find_table(StaticModule& module, const std::string& name) {
  for (const char* tensor : {"embedding.weight", "embeddings", "0"}) {
    const TensorView* found = module.tensors->find(tensor);
    if (found == nullptr) {
      continue;
    }
    const bool known = found->type == TensorType::F32 || found->type == TensorType::F16 ||
                       found->type == TensorType::BF16 || found->type == TensorType::I8;
    if (!known || found->shape.size() != 2 || found->elements() == 0) {
      return fail(Code::InvalidData,
                  "{}: tensor '{}' is {} of shape [{}]; a table of embeddings is F32, F16, BF16 or "
                  "I8 with two dimensions, and not empty",
                  name, tensor, type_name(found->type), fmt::join(found->shape, ", "));
    }
    module.table = *found;
    module.rows = found->shape[0];
    module.dimension = found->shape[1];
    module.model2vec = std::string_view(tensor) != "embedding.weight";
    return {};
  }
  return fail(Code::InvalidData,
              "{}: holds no table of embeddings: 'embedding.weight', 'embeddings' or '0'", name);
}

Result<void> read_mapping(StaticModule& module, const std::string& name) {
  const TensorView* tensor = module.tensors->find("mapping");
  if (tensor == nullptr) {
    return {};
  }
  if ((tensor->type != TensorType::I32 && tensor->type != TensorType::I64) ||
      tensor->shape.size() != 1) {
    return fail(Code::InvalidData,
                "{}: tensor 'mapping' is {} of shape [{}]; it must be a list "
                "of I32 or I64",
                name, type_name(tensor->type), fmt::join(tensor->shape, ", "));
  }
  module.mapping.reserve(tensor->elements());
  for (uint64_t i = 0; i < tensor->elements(); ++i) {
    int64_t row = 0;
    if (tensor->type == TensorType::I32) {
      int32_t narrow = 0;
      std::memcpy(&narrow, tensor->bytes.data() + i * sizeof(narrow), sizeof(narrow));
      row = narrow;
    } else {
      std::memcpy(&row, tensor->bytes.data() + i * sizeof(row), sizeof(row));
    }
    if (row < 0 || static_cast<uint64_t>(row) >= module.rows) {
      return fail(Code::InvalidData,
                  "{}: tensor 'mapping': token {} points to row {} of a table of {} rows", name, i,
                  row, module.rows);
    }
    module.mapping.push_back(static_cast<uint32_t>(row));
  }
  return {};
}

Result<void> read_token_weights(StaticModule& module, const std::string& name) {
  const TensorView* tensor = module.tensors->find("weights");
  if (tensor == nullptr) {
    return {};
  }
  const bool known = tensor->type == TensorType::F64 || tensor->type == TensorType::F32 ||
                     tensor->type == TensorType::F16 || tensor->type == TensorType::BF16;
  const size_t tokens = module.mapping.empty() ? module.rows : module.mapping.size();
  if (!known || tensor->shape.size() != 1 || tensor->elements() != tokens) {
    return fail(Code::InvalidData,
                "{}: tensor 'weights' is {} of shape [{}]; it must hold {} floats, one a token",
                name, type_name(tensor->type), fmt::join(tensor->shape, ", "), tokens);
  }
  module.weights = to_floats(*tensor).value();
  return {};
}

/// `normalize` of config.json or config_sentence_transformers.json; true when neither says.
Result<bool> wants_unit_length(const std::string& folder) {
  bool normalize = true;
  for (const char* file : {"config.json", "config_sentence_transformers.json"}) {
    const std::string path = base::join_path(folder, file);
    if (!base::real_file_system().exists(path)) {
      continue;
    }
    auto config = read_config(path);
    if (!config) {
      return pass_on(config);
    }
    ConfigFields fields(*config, path);
    normalize = fields.boolean("normalize", normalize);
    auto checked = fields.finish();
    if (!checked) {
      return pass_on(checked);
    }
  }
  return normalize;
}

}  // namespace

Result<StaticModule> read_static(const std::string& folder, bool listed) {
  auto weights = open_weights(folder);
  if (!weights) {
    return pass_on(weights);
  }
  StaticModule module;
  module.tensors = *weights;
  const std::string name = base::join_path(folder, "model.safetensors");
  auto read = find_table(module, name);
  if (read) {
    read = read_mapping(module, name);
  }
  if (read) {
    read = read_token_weights(module, name);
  }
  if (!read) {
    return pass_on(read);
  }
  module.tokens_max = module.model2vec ? kModel2VecTokensMax : 0;
  module.normalize = false;
  if (!listed) {
    auto normalize = wants_unit_length(folder);
    if (!normalize) {
      return pass_on(normalize);
    }
    module.normalize = *normalize;
  }
  return module;
}

}  // namespace sibyl::model
