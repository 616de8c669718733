#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::model {

inline constexpr size_t kModulesMax = 16;

enum class ModuleKind { Transformer, Pooling, Normalize, Dense, Static };

/// One line of modules.json; `folder` is relative to the model, empty for the model's own folder.
struct ModuleEntry {
  ModuleKind kind = ModuleKind::Transformer;
  std::string folder;
};

/// Reads modules.json: the modules in order, both spellings of types told by their last part. A
/// folder outside the model and a module that has no kernel here are refused by name.
Result<std::vector<ModuleEntry>> parse_module_list(std::string_view json, const std::string& name);

/// Finds the modules of a model directory: from modules.json, or without one a plain Hugging Face
/// directory (config.json with a model_type of the BERT family) or an embedding table.
struct ModuleList {
  std::vector<ModuleEntry> entries;
  bool listed = false;  ///< modules.json was there
};
Result<ModuleList> find_modules(const std::string& path);

}  // namespace sibyl::model
