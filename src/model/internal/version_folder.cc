#include "model/internal/version_folder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/file_system.h"
#include "model/internal/model_files.h"
#include "model/internal/model_reference.h"
#include "model/internal/module_list.h"

namespace sibyl::model {

Result<ModelEntry> describe_version(const std::string& path, const std::string& name,
                                    uint32_t version) {
  auto provenance = read_provenance(path);
  if (!provenance) {
    return pass_on(provenance);
  }
  auto modules = find_modules(path);
  if (!modules) {
    return pass_on(modules);
  }
  auto files = list_model_files(path);
  if (!files) {
    return pass_on(files);
  }
  ModelEntry entry;
  entry.name = name;
  entry.version = version;
  entry.path = path;
  entry.dimension = provenance->dimension;
  entry.kind = modules->entries.front().kind == ModuleKind::Static ? "static" : "transformer";
  for (const ModelFile& file : *files) {
    entry.bytes += file.bytes;
  }
  entry.provenance = std::move(*provenance);
  return entry;
}

Result<uint32_t> next_version(const std::string& folder, uint32_t newest) {
  base::FileSystem& files = base::real_file_system();
  uint32_t next = newest + 1;
  const std::string path = base::join_path(folder, kNextFile);
  if (files.exists(path)) {
    auto text = base::read_file(path, 16);
    if (!text) {
      return pass_on(text);
    }
    const std::optional<uint32_t> recorded = parse_model_version(text->substr(0, text->find('\n')));
    if (!recorded) {
      return fail(Code::DataLoss, "{}: holds no version number", path);
    }
    next = std::max(next, *recorded);
  }
  // A damaged version is not in the list, but its number is taken all the same.
  while (files.exists(base::join_path(folder, std::to_string(next)))) {
    ++next;
  }
  return next;
}

}  // namespace sibyl::model
