#include <algorithm>
#include <array>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/random.h"
#include "model/internal/config_fields.h"
#include "model/internal/model_files.h"
#include "model/internal/module_configs.h"
#include "model/internal/transformer_config.h"
#include "model/model_directory.h"

namespace sibyl::model {

namespace {

/// Small files that say how other programs build the tokenizer; taken over as they are.
constexpr std::array<const char*, 5> kTakenOver = {"vocab.txt", "special_tokens_map.json",
                                                   "tokenizer_config.json", "LICENSE", "NOTICE"};

base::Json module_json(size_t index, const std::string& path, const std::string& type) {
  return {{"idx", index},
          {"name", std::to_string(index)},
          {"path", path},
          {"type", "sentence_transformers.models." + type}};
}

std::string pretty(const base::Json& value) {
  return base::dump_json(value, 2) + "\n";
}

/// Writes one model into a folder of its own, file by file.
class FolderWriter {
 public:
  FolderWriter(std::string folder, const std::string& source)
      : folder_(std::move(folder)), source_(source) {}

  Result<void> write(const TransformerToWrite& model, const std::string& tokenizer_json) {
    const TransformerModule& shape = model.shape;
    base::Json modules = base::Json::array(
        {module_json(0, "", "Transformer"), module_json(1, "1_Pooling", "Pooling")});
    if (model.normalize) {
      modules.push_back(module_json(2, "2_Normalize", "Normalize"));
    }
    put("1_Pooling/config.json", pooling_config_json(model.pooling, shape.hidden));
    if (model.normalize) {
      make_folder("2_Normalize");
    }
    put("config.json", pretty(transformer_config_json(shape)));
    put("sentence_bert_config.json",
        pretty({{"max_seq_length", shape.tokens_max}, {"do_lower_case", shape.lowercase}}));
    put_common(modules, tokenizer_json, shape.tokens_max);
    put_weights(model.tensors);
    return finish();
  }

  Result<void> write(const StaticToWrite& model, const std::string& tokenizer_json) {
    base::Json modules = base::Json::array({module_json(0, ".", "StaticEmbedding")});
    if (model.normalize) {
      modules.push_back(module_json(1, "1_Normalize", "Normalize"));
      make_folder("1_Normalize");
    }
    put_common(modules, tokenizer_json, 0);
    put_weights({{"embedding.weight", {model.rows, model.dimension}, model.table}});
    return finish();
  }

 private:
  void make_folder(const std::string& name) {
    if (done_) {
      done_ = base::real_file_system().create_directories(base::join_path(folder_, name));
    }
  }

  void put(const std::string& name, const std::string& content) {
    const size_t slash = name.rfind('/');
    if (slash != std::string::npos) {
      make_folder(name.substr(0, slash));
    }
    if (done_) {
      done_ = base::replace_file(base::join_path(folder_, name), content);
    }
  }

  void put_weights(const std::vector<NamedTensor>& tensors) {
    if (done_) {
      done_ = write_safetensors(base::join_path(folder_, "model.safetensors"), tensors,
                                {{"format", "pt"}});
    }
  }

  void put_common(const base::Json& modules, const std::string& tokenizer_json, size_t tokens_max) {
    make_folder("");
    put("modules.json", pretty(modules));
    put("tokenizer.json", tokenizer_json);
    for (const char* name : kTakenOver) {
      const std::string from = base::join_path(source_, name);
      if (done_ && !source_.empty() && base::real_file_system().exists(from)) {
        done_ = copy_file_synced(from, base::join_path(folder_, name));
      }
    }
    if (!base::real_file_system().exists(base::join_path(folder_, "tokenizer_config.json"))) {
      base::Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}};
      if (tokens_max > 0) {
        config["model_max_length"] = tokens_max;
      }
      add_special_tokens(tokenizer_json, config);
      put("tokenizer_config.json", pretty(config));
    }
    put_sentence_transformers_config();
  }

  /// transformers pads batches by the names in tokenizer_config.json, so a new one must have them.
  void add_special_tokens(const std::string& tokenizer_json, base::Json& config) {
    constexpr std::array<std::pair<const char*, std::array<std::string_view, 2>>, 5> kNames = {{
        {"unk_token", {"[UNK]", "<unk>"}},
        {"pad_token", {"[PAD]", "<pad>"}},
        {"cls_token", {"[CLS]", "<s>"}},
        {"sep_token", {"[SEP]", "</s>"}},
        {"mask_token", {"[MASK]", "<mask>"}},
    }};
    auto tokenizer = text::load_tokenizer_json(tokenizer_json);
    if (!tokenizer) {
      if (done_) {
        done_ = pass_on(tokenizer, "tokenizer.json");
      }
      return;
    }
    for (const auto& [key, spellings] : kNames) {
      for (const std::string_view spelling : spellings) {
        if ((*tokenizer)->token_id(spelling) >= 0 && !config.contains(key)) {
          config[key] = spelling;
        }
      }
    }
  }

  /// Prompts are part of what a model computes: a model trained from another keeps them.
  void put_sentence_transformers_config() {
    base::Json config = {{"__version__", {{"sentence_transformers", "5.0.0"}}},
                         {"prompts", base::Json::object()},
                         {"default_prompt_name", nullptr},
                         {"similarity_fn_name", "cosine"}};
    const std::string name = "config_sentence_transformers.json";
    const std::string from = base::join_path(source_, name);
    if (done_ && !source_.empty() && base::real_file_system().exists(from)) {
      auto old = read_config(from);
      if (!old) {
        done_ = pass_on(old);
        return;
      }
      for (const char* key : {"prompts", "default_prompt_name"}) {
        if (old->contains(key)) {
          config[key] = (*old)[key];
        }
      }
    }
    put(name, pretty(config));
  }

  Result<void> finish() {
    if (done_) {
      done_ = sync_folders(folder_);
    }
    return done_;
  }

  std::string folder_;
  const std::string& source_;
  Result<void> done_;  ///< the first failure; later steps do nothing after one
};

/// The old spelling concatenates modes in its own order, and cannot say one twice.
Result<void> check_pooling(const std::vector<PoolingMode>& modes) {
  if (modes.empty() ||
      std::adjacent_find(modes.begin(), modes.end(), std::greater_equal<>()) != modes.end()) {
    return fail_field(Code::InvalidArgument, "pooling",
                      "pooling modes must be at least one, in the order cls, max, mean, "
                      "mean_sqrt_len_tokens, weightedmean, lasttoken");
  }
  return {};
}

Result<void> check_model(const std::variant<TransformerToWrite, StaticToWrite>& model) {
  if (const auto* table = std::get_if<StaticToWrite>(&model); table != nullptr) {
    if (table->table.size() != table->rows * table->dimension || table->table.empty()) {
      return fail(Code::InvalidArgument, "a table of {} rows of {} values needs {} values, not {}",
                  table->rows, table->dimension, table->rows * table->dimension,
                  table->table.size());
    }
    return {};
  }
  const auto& transformer = std::get<TransformerToWrite>(model);
  for (const TransformerTensorName& wanted : transformer_file_names(transformer.shape)) {
    const auto found =
        std::find_if(transformer.tensors.begin(), transformer.tensors.end(),
                     [&](const NamedTensor& t) { return t.name == wanted.file_name; });
    if (found == transformer.tensors.end() || found->shape != wanted.shape) {
      return fail(Code::InvalidArgument, "tensor '{}' of shape [{}] is missing", wanted.file_name,
                  fmt::join(wanted.shape, ", "));
    }
  }
  return check_pooling(transformer.pooling);
}

/// Puts the finished folder in the place of what was there.
Result<void> swap_in(const std::string& finished, const std::string& path) {
  base::FileSystem& files = base::real_file_system();
  const std::string old = finished + ".old";
  const bool replaces = files.exists(path);
  if (replaces) {
    auto moved = files.rename(path, old);
    if (!moved) {
      return pass_on(moved);
    }
  }
  auto moved = files.rename(finished, path);
  if (!moved) {
    return pass_on(moved);
  }
  const size_t slash = path.rfind('/');
  auto synced = files.sync_directory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  return synced && replaces ? files.remove_tree(old) : synced;
}

}  // namespace

Result<void> write_model_directory(const std::string& path,
                                   const std::variant<TransformerToWrite, StaticToWrite>& model,
                                   const std::string& tokenizer_json, const std::string& source,
                                   const Provenance& provenance) {
  auto written = check_model(model);
  if (!written) {
    return pass_on(written);
  }
  const std::string whole = path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  const std::string folder = fmt::format("{}.part-{}", whole, base::random_hex(4));
  FolderWriter writer(folder, source);
  written = std::visit([&](const auto& m) { return writer.write(m, tokenizer_json); }, model);
  if (written) {
    Provenance recorded = provenance;
    const auto* table = std::get_if<StaticToWrite>(&model);
    const auto* transformer = std::get_if<TransformerToWrite>(&model);
    recorded.dimension = table != nullptr ? table->dimension
                                          : transformer->shape.hidden * transformer->pooling.size();
    written = write_provenance(folder, std::move(recorded));
  }
  if (written) {
    written = swap_in(folder, whole);
  }
  if (!written && base::real_file_system().exists(folder)) {
    // The first failure is the one to report; a half-written folder must not stay on a full disk.
    static_cast<void>(base::real_file_system().remove_tree(folder));
  }
  return written;
}

}  // namespace sibyl::model
