#include "model/internal/module_list.h"

#include <array>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "model/internal/config_fields.h"

namespace sibyl::model {

namespace {

constexpr std::array<std::pair<std::string_view, ModuleKind>, 5> kKinds = {{
    {"Transformer", ModuleKind::Transformer},
    {"Pooling", ModuleKind::Pooling},
    {"Normalize", ModuleKind::Normalize},
    {"Dense", ModuleKind::Dense},
    {"StaticEmbedding", ModuleKind::Static},
}};

/// A relative folder without a step up, "" for "." and "./".
Result<std::string> checked_folder(std::string_view path, const std::string& name) {
  std::string folder;
  bool inside = !path.starts_with('/') && path.find('\0') == std::string_view::npos;
  while (inside && !path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    inside = part != "..";
    if (!part.empty() && part != ".") {
      folder += folder.empty() ? "" : "/";
      folder += part;
    }
  }
  if (!inside) {
    return fail_field(Code::InvalidData, "path",
                      "{}: path leads out of the model's folder; a "
                      "module lies in a folder below it",
                      name);
  }
  return folder;
}

Result<ModuleEntry> parse_entry(const base::Json& value, const std::string& name) {
  if (!value.is_object()) {
    return fail(Code::InvalidData, "{}: a module is no object", name);
  }
  ConfigFields fields(value, name);
  const std::string type = fields.text("type", "");
  const std::string path = fields.text("path", "");
  auto checked = fields.finish();
  if (!checked) {
    return pass_on(checked);
  }
  const std::string_view last = std::string_view(type).substr(type.rfind('.') + 1);
  for (const auto& [text, kind] : kKinds) {
    if (text == last) {
      auto folder = checked_folder(path, name);
      if (!folder) {
        return pass_on(folder);
      }
      return ModuleEntry{kind, std::move(*folder)};
    }
  }
  return fail_field(Code::InvalidData, "type",
                    "{}: module type '{}' has no kernel here; there are Transformer, Pooling, "
                    "Normalize, Dense, StaticEmbedding",
                    name, type);
}

}  // namespace

Result<std::vector<ModuleEntry>> parse_module_list(std::string_view json, const std::string& name) {
  auto parsed = base::parse_json(json, name);
  if (!parsed) {
    parsed.error().code = Code::InvalidData;
    return pass_on(parsed);
  }
  if (!parsed->is_array() || parsed->empty() || parsed->size() > kModulesMax) {
    return fail(Code::InvalidData, "{}: must be a list of 1 to {} modules", name, kModulesMax);
  }
  std::vector<ModuleEntry> entries;
  for (const base::Json& value : *parsed) {
    auto entry = parse_entry(value, name);
    if (!entry) {
      return pass_on(entry);
    }
    entries.push_back(std::move(*entry));
  }
  const ModuleKind first = entries.front().kind;
  if (first != ModuleKind::Transformer && first != ModuleKind::Static) {
    return fail(Code::InvalidData,
                "{}: the first module must be a Transformer or a StaticEmbedding", name);
  }
  for (size_t i = 1; i < entries.size(); ++i) {
    const ModuleKind kind = entries[i].kind;
    const bool pooled = first == ModuleKind::Static || i > 1;
    if (kind == ModuleKind::Transformer || kind == ModuleKind::Static ||
        (kind == ModuleKind::Pooling) == pooled) {
      return fail(Code::InvalidData,
                  "{}: module {} does not fit its place; the order is Transformer, Pooling or "
                  "StaticEmbedding, then Dense and Normalize",
                  name, i);
    }
  }
  if (first == ModuleKind::Transformer && entries.size() == 1) {
    entries.push_back({ModuleKind::Pooling, "1_Pooling"});
  }
  return entries;
}

Result<ModuleList> find_modules(const std::string& path) {
  base::FileSystem& files = base::real_file_system();
  const std::string list_path = base::join_path(path, "modules.json");
  if (files.exists(list_path)) {
    auto text = base::read_file(list_path, kConfigBytesMax);
    if (!text) {
      return pass_on(text);
    }
    auto entries = parse_module_list(*text, list_path);
    if (!entries) {
      return pass_on(entries);
    }
    return ModuleList{std::move(*entries), true};
  }
  const std::string config_path = base::join_path(path, "config.json");
  if (files.exists(config_path)) {
    auto config = read_config(config_path);
    if (!config) {
      return pass_on(config);
    }
    ConfigFields fields(*config, config_path);
    const std::string type = fields.text("model_type", "");
    auto checked = fields.finish();
    if (!checked) {
      return pass_on(checked);
    }
    if (type != "model2vec" && !type.empty()) {
      return ModuleList{{{ModuleKind::Transformer, ""}, {ModuleKind::Pooling, ""}}, false};
    }
  }
  if (files.exists(base::join_path(path, "model.safetensors"))) {
    return ModuleList{{{ModuleKind::Static, ""}}, false};
  }
  if (files.exists(base::join_path(path, "0_StaticEmbedding/model.safetensors"))) {
    return ModuleList{{{ModuleKind::Static, "0_StaticEmbedding"}}, false};
  }
  return fail(files.exists(path) ? Code::InvalidData : Code::NotFound,
              "{}: is no model directory: it has no modules.json, no config.json and no "
              "model.safetensors",
              path);
}

}  // namespace sibyl::model
