#include "job/internal/workspace_mirror.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "base/file_system.h"
#include "base/stop.h"
#include "net/sha256.h"

namespace sibyl::job::internal {
namespace {

constexpr size_t kPathBytesMax = 512;
constexpr std::string_view kDone = "done/";
constexpr const char* kEvents = "events.jsonl";
// A store that is away for minutes (an update, a moved pod) must not end a run of hours.
constexpr int64_t kPatienceMs = 300'000;

struct StepFolders {
  std::string_view step;
  std::vector<std::string_view> not_read;  ///< stay in the store
  std::vector<std::string_view> made;      ///< whose old files go when the step ends
};

const StepFolders& folders_of(std::string_view step) {
  static const std::vector<StepFolders> all = {
      {"prepare", {"base/", "checkpoints/", "model/"}, {"base/"}},
      {"train", {"input/", "model/"}, {"model/", "checkpoints/"}},
      {"evaluate", {"checkpoints/", "input/"}, {}},
      {"publish", {"base/", "checkpoints/", "data/", "input/"}, {}},
      {"deploy", {"base/", "checkpoints/", "data/", "input/", "model/"}, {}}};
  const auto found = std::ranges::find(all, step, &StepFolders::step);
  return found == all.end() ? all.front() : *found;
}

bool begins_with_one_of(std::string_view path, const std::vector<std::string_view>& folders) {
  return std::ranges::any_of(folders,
                             [&](std::string_view folder) { return path.starts_with(folder); });
}

// Files that are still being written appear under their own name later.
bool is_passing(std::string_view path) {
  return path.ends_with(".tmp") || path.ends_with(".part");
}

// A folder of ours alone: its name can be foreseen, and others may write to the same /tmp.
Result<void> make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(code_from_errno(errno), "cannot make the folder {}", path);
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid()) {
    return fail(Code::CannotCreate, "{} is there and is no folder of ours; set TMPDIR", path);
  }
  return {};
}

std::string temporary_folder() {
  std::error_code problem;
  const auto folder = std::filesystem::temp_directory_path(problem);
  return problem ? std::string("/tmp") : folder.string();
}

}  // namespace

WorkspaceMirror::WorkspaceMirror(std::string uri, net::ObjectAddress address,
                                 net::ObjectStoreOptions store, std::string folder,
                                 std::unique_ptr<base::LockFile> lock)
    : uri_(std::move(uri)),
      address_(std::move(address)),
      options_(std::move(store)),
      folder_(std::move(folder)),
      lock_(std::move(lock)) {}

Result<std::unique_ptr<WorkspaceMirror>> WorkspaceMirror::open(const std::string& uri,
                                                               net::ObjectStoreOptions store) {
  store.patience_ms = std::max(store.patience_ms, kPatienceMs);
  auto address = net::parse_object_uri(uri);
  if (!address) {
    return pass_on(address, "workspace");
  }
  if (address->key.empty()) {
    return fail(Code::InvalidArgument, "workspace '{}' is a whole bucket; give a prefix in it",
                uri);
  }
  // The same folder for the same workspace: absolute paths in job.json stay right.
  const std::string name = net::sha256_hex(address->bucket + "/" + address->key).substr(0, 16);
  const std::string outer =
      base::join_path(temporary_folder(), fmt::format("sibyl-workspace-{}", name));
  if (auto made = make_private_folder(outer); !made) {
    return pass_on(made);
  }
  auto lock = base::LockFile::acquire(base::join_path(outer, "lock"));
  if (!lock) {
    return pass_on(lock, "workspace " + uri);
  }
  return std::unique_ptr<WorkspaceMirror>(
      new WorkspaceMirror(uri, std::move(*address), std::move(store),
                          base::join_path(outer, "files"), std::move(*lock)));
}

Result<std::unique_ptr<net::ObjectStore>> WorkspaceMirror::store(std::stop_token stop) const {
  return net::ObjectStore::open(options_, address_.bucket, std::move(stop));
}

std::string WorkspaceMirror::key_of(const std::string& relative) const {
  return net::join_key(address_.key, relative);
}

Result<std::string> WorkspaceMirror::relative_of(const std::string& key) const {
  const std::string prefix = address_.key + "/";
  std::string path = key.starts_with(prefix) ? key.substr(prefix.size()) : "";
  if (path.empty() || path.ends_with('/')) {
    return std::string();
  }
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || path.size() > kPathBytesMax ||
        part.find('\0') != std::string_view::npos) {
      return fail(Code::InvalidData, "{} holds an object '{}', which is no path of a file", uri_,
                  path.substr(0, 80));
    }
    begin = end + 1;
  }
  return path;
}

Result<void> WorkspaceMirror::fetch(std::string_view step, const std::stop_token& stop) {
  auto& files = base::real_file_system();
  if (files.exists(folder_)) {
    if (auto removed = files.remove_tree(folder_); !removed) {
      return removed;
    }
  }
  for (const char* const made : {"data", "done", "report"}) {
    if (auto there = files.create_directories(base::join_path(folder_, made)); !there) {
      return there;
    }
  }
  auto store = this->store(stop);
  if (!store) {
    return pass_on(store);
  }
  auto objects = (*store)->list(address_.key + "/");
  if (!objects) {
    return pass_on(objects, "workspace " + uri_);
  }
  saved_.clear();
  remote_.clear();
  for (const net::ObjectInfo& object : *objects) {
    auto relative = relative_of(object.key);
    if (!relative) {
      return pass_on(relative);
    }
    if (relative->empty()) {
      continue;
    }
    remote_.insert(*relative);
    if (begins_with_one_of(*relative, folders_of(step).not_read)) {
      continue;
    }
    const std::string path = base::join_path(folder_, *relative);
    const std::string parent = path.substr(0, path.rfind('/'));
    if (auto made = files.create_directories(parent); !made) {
      return made;
    }
    if (auto got = (*store)->get_file(object.key, path); !got) {
      return pass_on(got, "workspace " + uri_);
    }
    if (const auto status = files.status(path)) {
      saved_[*relative] = {status->bytes, status->modified_us};
    }
  }
  return {};
}

Result<std::map<std::string, WorkspaceMirror::Stamp>> WorkspaceMirror::local_files() const {
  std::map<std::string, Stamp> found;
  std::vector<std::string> folders = {""};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    const auto entries = base::real_file_system().list(base::join_path(folder_, folder));
    if (!entries) {
      return tl::unexpected<Error>(entries.error());
    }
    for (const base::FileEntry& entry : *entries) {
      const std::string path = folder + entry.name;
      if (entry.directory) {
        folders.push_back(path + "/");
      } else if (!is_passing(path)) {
        found[path] = {entry.bytes, entry.modified_us};
      }
    }
  }
  return found;
}

Result<void> WorkspaceMirror::put_changed(net::ObjectStore& store,
                                          const std::map<std::string, Stamp>& files,
                                          bool done_marks) {
  for (const auto& [path, stamp] : files) {
    if (path.starts_with(kDone) != done_marks) {
      continue;
    }
    if (auto put = put_if_changed(store, path, stamp); !put) {
      return put;
    }
  }
  return {};
}

Result<void> WorkspaceMirror::put_if_changed(net::ObjectStore& store, const std::string& path,
                                             const Stamp& stamp) {
  if (const auto known = saved_.find(path); known != saved_.end() && known->second == stamp) {
    return {};
  }
  auto put = store.put_file(key_of(path), base::join_path(folder_, path));
  if (!put && put.error().code == Code::NotFound &&
      !base::real_file_system().exists(base::join_path(folder_, path))) {
    return {};  // the trainer has removed a checkpoint since the folder was read
  }
  if (!put) {
    return pass_on(put, "workspace " + uri_);
  }
  saved_[path] = stamp;
  remote_.insert(path);
  return {};
}

Result<void> WorkspaceMirror::save(std::string_view step, const std::stop_token& stop) {
  auto store = this->store(stop);
  if (!store) {
    return pass_on(store);
  }
  const auto files = local_files();
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  // The events say why a step ended; they must not wait behind files that take too long.
  if (const auto events = files->find(kEvents); events != files->end()) {
    if (auto put = put_if_changed(**store, events->first, events->second); !put) {
      return put;
    }
  }
  if (auto put = put_changed(**store, *files, false); !put) {
    return put;
  }
  for (auto path = remote_.begin(); path != remote_.end();) {
    if (files->contains(*path) || !begins_with_one_of(*path, folders_of(step).made)) {
      ++path;
      continue;
    }
    if (auto removed = (*store)->remove(key_of(*path)); !removed) {
      return pass_on(removed, "workspace " + uri_);
    }
    saved_.erase(*path);
    path = remote_.erase(path);
  }
  return put_changed(**store, *files, true);
}

Result<void> WorkspaceMirror::save_progress(const std::stop_token& stop) {
  auto store = this->store(stop);
  if (!store) {
    return pass_on(store);
  }
  auto files = local_files();
  if (!files) {
    return pass_on(files);
  }
  std::erase_if(*files, [](const auto& file) {
    return !file.first.starts_with("checkpoints/") && file.first != kEvents;
  });
  return put_changed(**store, *files, false);
}

}  // namespace sibyl::job::internal
