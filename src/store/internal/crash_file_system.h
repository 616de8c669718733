#pragma once

// For tests: a file system in memory that forgets, tears and reorders what was not synced, and that
// fails or stops at any call.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/random.h"
#include "index/memory_view.h"

namespace sibyl::store {

/// What a crash leaves of bytes and names that were not synced.
enum class CrashKind {
  Kept,    ///< all of them: the process was killed, the machine went on
  Lost,    ///< none
  Torn,    ///< each file a prefix, each name by chance
  Zeroed,  ///< files have their new size, sectors of it are zeros by chance; each name by chance
};

/// Thread-safe. Paths are absolute; a sync of a folder makes the names in it durable, a sync of a
/// file its bytes, and nothing else does.
class CrashFileSystem final : public base::FileSystem {
 public:
  /// With the empty folder /data.
  CrashFileSystem() {
    root_.now["data"].folder = std::make_shared<Folder>();
    root_.durable = root_.now;
  }
  /// Mutating calls so far.
  uint64_t calls() const { return calls_; }
  /// From call `number` (from 1) on every call fails and changes nothing: the machine is dead.
  void stop_at(uint64_t number) { stop_at_ = number; }
  /// Call `number` fails once with an input/output error; an append has written half.
  void fail_at(uint64_t number) { fail_at_ = number; }
  /// From call `number` on, calls that need space fail, until `free_space`.
  void fill_at(uint64_t number) { fill_at_ = number; }
  void free_space() { fill_at_ = 0; }

  /// Called with the path before a file is made, appended to or synced, in the calling thread,
  /// which may use the file system itself meanwhile. Set by one thread while no other works.
  void on_write(std::function<void(const std::string& path)> hook) { on_write_ = std::move(hook); }

  /// The machine starts again.
  void crash(CrashKind kind, uint64_t seed) {
    const std::lock_guard lock(mutex_);
    base::Random random(seed);
    crash_folder(root_, kind, random);
    stop_at_ = 0;
    fail_at_ = 0;
    fill_at_ = 0;
  }

  Result<std::unique_ptr<base::WritableFile>> create(const std::string& path) override {
    return open_file(path, 0, true);
  }
  Result<std::unique_ptr<base::WritableFile>> open_append(const std::string& path,
                                                          uint64_t keep_bytes) override {
    return open_file(path, keep_bytes, false);
  }

  Result<std::shared_ptr<const base::FileView>> map(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const Node* node = find(path);
    if (node == nullptr || node->file == nullptr) {
      return fail(Code::NotFound, "{} is not there", path);
    }
    return index::memory_view(node->file->bytes);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    if (Result<void> allowed = enter(from, false); !allowed) {
      return allowed;
    }
    Folder* source = parent_of(from);
    Folder* target = parent_of(to);
    if (source == nullptr || target == nullptr || !source->now.contains(name_of(from))) {
      return fail(Code::NotFound, "{} is not there", from);
    }
    target->now[name_of(to)] = source->now[name_of(from)];
    source->now.erase(name_of(from));
    return {};
  }

  Result<void> remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (Result<void> allowed = enter(path, false); !allowed) {
      return allowed;
    }
    Folder* folder = parent_of(path);
    if (folder == nullptr || folder->now.erase(name_of(path)) == 0) {
      return fail(Code::NotFound, "{} is not there", path);
    }
    return {};
  }
  Result<void> remove_tree(const std::string& path) override { return remove(path); }

  Result<void> sync_directory(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (Result<void> allowed = enter(path, false); !allowed) {
      return allowed;
    }
    const Node* node = find(path);
    if (node == nullptr || node->folder == nullptr) {
      return fail(Code::NotFound, "{} is not there", path);
    }
    node->folder->durable = node->folder->now;
    return {};
  }

  Result<void> create_directories(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    if (Result<void> allowed = enter(path, true); !allowed) {
      return allowed;
    }
    Folder* folder = &root_;
    for (const std::string& part : split(path)) {
      Node& node = folder->now[part];
      if (node.folder == nullptr) {
        node.folder = std::make_shared<Folder>();
      }
      folder = node.folder.get();
    }
    return {};
  }

  Result<std::vector<base::FileEntry>> list(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const Node* node = find(path);
    if (node == nullptr || node->folder == nullptr) {
      return fail(Code::NotFound, "{} is not there", path);
    }
    std::vector<base::FileEntry> entries;
    for (const auto& [name, child] : node->folder->now) {
      entries.push_back(
          {name, child.file == nullptr ? 0 : child.file->bytes.size(), child.folder != nullptr, 0});
    }
    return entries;
  }
  bool exists(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return find(path) != nullptr;
  }
  Result<base::FileEntry> status(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    const Node* node = find(path);
    if (node == nullptr) {
      return fail(Code::NotFound, "{} is not there", path);
    }
    return base::FileEntry{name_of(path), node->file == nullptr ? 0 : node->file->bytes.size(),
                           node->folder != nullptr, 0};
  }

  /// Changes one byte of a file, on the disk and in memory.
  void flip(const std::string& path, size_t at, uint8_t mask) {
    const std::lock_guard lock(mutex_);
    std::string& bytes = find(path)->file->bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
  }

 private:
  struct File {
    std::string bytes;
    std::string synced;
  };
  struct Folder;
  struct Node {
    std::shared_ptr<File> file;
    std::shared_ptr<Folder> folder;
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Folder {
    std::map<std::string, Node> now;
    std::map<std::string, Node> durable;
  };

  class Writer final : public base::WritableFile {
   public:
    Writer(CrashFileSystem& owner, std::string path, std::shared_ptr<File> file)
        : owner_(owner), path_(std::move(path)), file_(std::move(file)) {}
    Result<void> append(std::string_view bytes) override {
      owner_.tell(path_);
      const std::lock_guard lock(owner_.mutex_);
      const bool dead = owner_.dead_next();
      Result<void> allowed = owner_.enter(path_, true);
      if (allowed) {
        file_->bytes += bytes;
      } else if (!dead) {
        file_->bytes += bytes.substr(0, bytes.size() / 2);
      }
      return allowed;
    }
    Result<void> sync() override {
      owner_.tell(path_);
      const std::lock_guard lock(owner_.mutex_);
      Result<void> allowed = owner_.enter(path_, false);
      if (allowed) {
        file_->synced = file_->bytes;
      }
      return allowed;
    }
    Result<void> close() override { return {}; }
    uint64_t size() const override {
      const std::lock_guard lock(owner_.mutex_);
      return file_->bytes.size();
    }

   private:
    CrashFileSystem& owner_;
    std::string path_;
    std::shared_ptr<File> file_;
  };

  /// A hook that causes calls itself is not told of those.
  void tell(const std::string& path) {
    if (on_write_) {
      const auto hook = std::exchange(on_write_, {});
      hook(path);
      on_write_ = hook;
    }
  }

  bool dead_next() const { return stop_at_ != 0 && calls_ + 1 >= stop_at_; }

  Result<void> enter(const std::string& path, bool needs_space) {
    if (dead_next()) {
      return fail(Code::IoError, "{}: the machine is dead", path);
    }
    ++calls_;
    if (fail_at_ == calls_) {
      return fail(Code::IoError, "{}: input/output error", path);
    }
    if (needs_space && fill_at_ != 0 && calls_ >= fill_at_) {
      return fail(Code::IoError, "{}: no space left on device", path);
    }
    return {};
  }

  Result<std::unique_ptr<base::WritableFile>> open_file(const std::string& path, uint64_t keep,
                                                        bool fresh) {
    tell(path);
    const std::lock_guard lock(mutex_);
    if (Result<void> allowed = enter(path, fresh); !allowed) {
      return pass_on(allowed);
    }
    Folder* folder = parent_of(path);
    if (folder == nullptr) {
      return fail(Code::NotFound, "the folder of {} is not there", path);
    }
    Node& node = folder->now[name_of(path)];
    if (node.file == nullptr || fresh) {
      node.file = std::make_shared<File>();
    }
    node.file->bytes.resize(std::min<uint64_t>(keep, node.file->bytes.size()));
    return std::make_unique<Writer>(*this, path, node.file);
  }

  static std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      if (end > begin) {
        parts.push_back(path.substr(begin, end - begin));
      }
      begin = end + 1;
    }
    return parts;
  }
  static std::string name_of(const std::string& path) { return split(path).back(); }

  const Node* find(const std::string& path) {
    Node* node = nullptr;
    Folder* folder = &root_;
    for (const std::string& part : split(path)) {
      if (folder == nullptr || !folder->now.contains(part)) {
        return nullptr;
      }
      node = &folder->now[part];
      folder = node->folder.get();
    }
    return node;
  }
  Folder* parent_of(const std::string& path) {
    const std::vector<std::string> parts = split(path);
    Folder* folder = &root_;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto next = folder->now.find(parts[i]);
      if (next == folder->now.end() || next->second.folder == nullptr) {
        return nullptr;
      }
      folder = next->second.folder.get();
    }
    return folder;
  }

  static void crash_file(File& file, CrashKind kind, base::Random& random) {
    constexpr size_t kSector = 512;
    const std::string& old = file.synced;
    size_t common = 0;
    while (common < std::min(old.size(), file.bytes.size()) && old[common] == file.bytes[common]) {
      ++common;
    }
    if (kind == CrashKind::Lost) {
      file.bytes = old;
    } else if (kind == CrashKind::Torn && file.bytes.size() > common) {
      file.bytes.resize(common + random.below(file.bytes.size() - common + 1));
    } else if (kind == CrashKind::Zeroed) {
      for (size_t at = common; at < file.bytes.size();) {
        const size_t end = std::min((at / kSector + 1) * kSector, file.bytes.size());
        if (random.below(2) == 0) {
          std::fill(file.bytes.begin() + static_cast<ptrdiff_t>(at),
                    file.bytes.begin() + static_cast<ptrdiff_t>(end), '\0');
        }
        at = end;
      }
    }
    file.synced = file.bytes;
  }

  static void crash_folder(Folder& folder, CrashKind kind, base::Random& random) {
    if (kind == CrashKind::Lost) {
      folder.now = folder.durable;
    } else if (kind != CrashKind::Kept) {
      std::map<std::string, Node> all = folder.durable;
      all.insert(folder.now.begin(), folder.now.end());
      for (const auto& [name, node] : all) {
        const auto durable = folder.durable.find(name);
        const auto now = folder.now.find(name);
        const bool same = durable != folder.durable.end() && now != folder.now.end() &&
                          durable->second == now->second;
        if (!same && random.below(2) == 0) {
          if (durable == folder.durable.end()) {
            folder.now.erase(name);
          } else {
            folder.now[name] = durable->second;
          }
        }
      }
    }
    folder.durable = folder.now;
    for (auto& [name, node] : folder.now) {
      if (node.file != nullptr) {
        crash_file(*node.file, kind, random);
      } else {
        crash_folder(*node.folder, kind, random);
      }
    }
  }

  std::function<void(const std::string&)> on_write_;
  mutable std::mutex mutex_;
  Folder root_;
  uint64_t calls_ = 0;
  uint64_t stop_at_ = 0;
  uint64_t fail_at_ = 0;
  uint64_t fill_at_ = 0;
};

}  // namespace sibyl::store
