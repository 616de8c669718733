#include "model/model_directory.h"

#include <utility>

#include "base/file_system.h"
#include "model/internal/config_fields.h"
#include "model/internal/module_configs.h"
#include "model/internal/module_list.h"
#include "model/internal/module_readers.h"

namespace sibyl::model {

namespace {

/// Reads the modules one after the other, each checked against the width that comes out before it.
class DirectoryReader {
 public:
  explicit DirectoryReader(const std::string& path) : path_(path) { out_->path = path; }

  Result<std::shared_ptr<const ModelDirectory>> read() {
    auto list = find_modules(path_);
    if (!list) {
      return pass_on(list);
    }
    auto provenance = read_provenance(path_);
    if (!provenance) {
      return pass_on(provenance);
    }
    out_->provenance = std::move(*provenance);
    auto intact = verify_checksums(path_);
    if (!intact) {
      return pass_on(intact);
    }
    for (const ModuleEntry& entry : list->entries) {
      auto read = read_module(entry, list->listed);
      if (!read) {
        return pass_on(read);
      }
    }
    auto prompts = read_prompts();
    if (!prompts) {
      return pass_on(prompts);
    }
    auto whole = check_whole();
    if (!whole) {
      return pass_on(whole);
    }
    return std::shared_ptr<const ModelDirectory>(out_);
  }

 private:
  std::string folder_of(const ModuleEntry& entry) const {
    return entry.folder.empty() ? path_ : base::join_path(path_, entry.folder);
  }

  Result<void> read_module(const ModuleEntry& entry, bool listed) {
    const std::string folder = folder_of(entry);
    switch (entry.kind) {
      case ModuleKind::Transformer:
        return add_transformer(folder);
      case ModuleKind::Static:
        return add_static(folder, listed);
      case ModuleKind::Pooling: {
        auto module = read_pooling(entry.folder.empty() ? std::string() : folder, width_);
        if (!module) {
          return pass_on(module);
        }
        width_ *= module->modes.size();
        out_->modules.emplace_back(std::move(*module));
        return {};
      }
      case ModuleKind::Normalize:
        out_->modules.emplace_back(NormalizeModule{});
        return {};
      case ModuleKind::Dense:
        break;
    }
    auto module = read_dense(folder);
    if (!module) {
      return pass_on(module);
    }
    if (module->in != width_) {
      return fail(Code::InvalidData, "{}: in_features is {}, but vectors of {} values come in",
                  folder, module->in, width_);
    }
    width_ = module->out;
    out_->modules.emplace_back(std::move(*module));
    return {};
  }

  Result<void> add_transformer(const std::string& folder) {
    auto module = read_transformer(folder);
    if (!module) {
      return pass_on(module);
    }
    auto tokenizer = read_tokenizer(folder, module->lowercase);
    if (!tokenizer) {
      return pass_on(tokenizer);
    }
    width_ = module->hidden;
    tokens_ = module->vocabulary;
    out_->tokens_max = module->tokens_max;
    out_->tokenizer = std::move(*tokenizer);
    out_->modules.emplace_back(std::move(*module));
    return {};
  }

  Result<void> add_static(const std::string& folder, bool listed) {
    auto module = read_static(folder, listed);
    if (!module) {
      return pass_on(module);
    }
    auto tokenizer = read_tokenizer(folder, false);
    if (!tokenizer) {
      return pass_on(tokenizer);
    }
    width_ = module->dimension;
    tokens_ = module->mapping.empty() ? module->rows : module->mapping.size();
    out_->tokens_max = module->tokens_max;
    out_->tokenizer = std::move(*tokenizer);
    out_->modules.emplace_back(std::move(*module));
    return {};
  }

  Result<void> read_prompts() {
    const std::string path = base::join_path(path_, "config_sentence_transformers.json");
    if (!base::real_file_system().exists(path)) {
      return {};
    }
    auto text = base::read_file(path, kConfigBytesMax);
    if (!text) {
      return pass_on(text);
    }
    auto prompts = parse_prompts(*text, path);
    if (!prompts) {
      return pass_on(prompts);
    }
    out_->prompts = std::move(*prompts);
    return {};
  }

  Result<void> check_whole() {
    const size_t known = out_->tokenizer->vocabulary_size();
    if (known > tokens_) {
      return fail(Code::InvalidData,
                  "{}: the tokenizer knows {} tokens, but the model has weights for {}; tokenizer "
                  "and weights are not of one model",
                  path_, known, tokens_);
    }
    const size_t recorded = out_->provenance.dimension;
    if (recorded != 0 && recorded != width_) {
      return fail(Code::InvalidData, "{}: sibyl.json says dimension {}, but the vectors have {}",
                  path_, recorded, width_);
    }
    out_->dimension = width_;
    return {};
  }

  std::string path_;
  std::shared_ptr<ModelDirectory> out_ = std::make_shared<ModelDirectory>();
  size_t width_ = 0;   ///< values that come out of the modules read so far
  size_t tokens_ = 0;  ///< token ids that have weights
};

}  // namespace

Result<std::shared_ptr<const ModelDirectory>> read_model_directory(const std::string& path) {
  return DirectoryReader(path).read();
}

}  // namespace sibyl::model
