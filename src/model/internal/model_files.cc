#include "model/internal/model_files.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/file_system.h"

namespace sibyl::model {

namespace {

constexpr uint64_t kCopyBytes = 4ULL << 20;

bool belongs_to_model(std::string_view name) {
  if (name.empty() || name.front() == '.') {
    return false;
  }
  constexpr std::array<std::string_view, 5> kEndings = {".json", ".txt", ".safetensors", ".model",
                                                        ".md"};
  const bool known = std::any_of(kEndings.begin(), kEndings.end(),
                                 [&](std::string_view ending) { return name.ends_with(ending); });
  return known || name == "LICENSE" || name == "NOTICE";
}

Result<void> list_into(const std::string& root, const std::string& folder, size_t depth,
                       std::vector<ModelFile>& out) {
  base::FileSystem& files = base::real_file_system();
  auto entries = files.list(folder.empty() ? root : base::join_path(root, folder));
  if (!entries) {
    return pass_on(entries);
  }
  for (const base::FileEntry& entry : *entries) {
    const std::string path = folder.empty() ? entry.name : base::join_path(folder, entry.name);
    if (entry.directory && !entry.name.starts_with('.') && depth < kModelFolderDepthMax) {
      auto listed = list_into(root, path, depth + 1, out);
      if (!listed) {
        return pass_on(listed);
      }
    } else if (!entry.directory && belongs_to_model(entry.name)) {
      if (out.size() >= kModelFilesMax) {
        return fail(Code::TooLarge, "{}: more than {} files; this is no model directory", root,
                    kModelFilesMax);
      }
      out.push_back({path, entry.bytes});
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ModelFile>> list_model_files(const std::string& model_path) {
  std::vector<ModelFile> out;
  auto listed = list_into(model_path, "", 0, out);
  if (!listed) {
    return pass_on(listed);
  }
  std::sort(out.begin(), out.end(),
            [](const ModelFile& a, const ModelFile& b) { return a.path < b.path; });
  return out;
}

bool is_inner_path(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) {
    return false;
  }
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") {
      return false;
    }
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return true;
}

Result<void> copy_file_synced(const std::string& from, const std::string& to) {
  base::FileSystem& files = base::real_file_system();
  auto view = files.map(from);
  if (!view) {
    return pass_on(view);
  }
  auto file = files.create(to);
  if (!file) {
    return pass_on(file);
  }
  std::string_view bytes = (*view)->bytes();
  Result<void> written;
  while (written && !bytes.empty()) {
    written = (*file)->append(bytes.substr(0, kCopyBytes));
    bytes.remove_prefix(std::min<size_t>(kCopyBytes, bytes.size()));
  }
  if (written) {
    written = (*file)->sync();
  }
  auto closed = (*file)->close();
  return written ? closed : written;
}

Result<void> sync_folders(const std::string& path) {
  base::FileSystem& files = base::real_file_system();
  auto entries = files.list(path);
  if (!entries) {
    return pass_on(entries);
  }
  for (const base::FileEntry& entry : *entries) {
    if (entry.directory) {
      auto synced = sync_folders(base::join_path(path, entry.name));
      if (!synced) {
        return pass_on(synced);
      }
    }
  }
  return files.sync_directory(path);
}

Result<void> copy_model(const std::string& from, const std::string& to) {
  base::FileSystem& files = base::real_file_system();
  auto list = list_model_files(from);
  if (!list) {
    return pass_on(list);
  }
  auto made = files.create_directories(to);
  if (!made) {
    return pass_on(made);
  }
  std::set<std::string> folders;
  for (const ModelFile& file : *list) {
    const size_t slash = file.path.rfind('/');
    if (slash != std::string::npos && folders.insert(file.path.substr(0, slash)).second) {
      made = files.create_directories(base::join_path(to, file.path.substr(0, slash)));
      if (!made) {
        return pass_on(made);
      }
    }
    auto copied =
        copy_file_synced(base::join_path(from, file.path), base::join_path(to, file.path));
    if (!copied) {
      return pass_on(copied);
    }
  }
  return sync_folders(to);
}

}  // namespace sibyl::model
