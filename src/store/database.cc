#include "store/database.h"

#include <map>
#include <mutex>

#include "base/log.h"
#include "base/random.h"
#include "store/internal/collection_engine.h"

namespace sibyl::store {
namespace {

constexpr std::string_view kCollectionsFolder = "collections";
constexpr std::string_view kNewPrefix = ".new-";
constexpr std::string_view kDroppedPrefix = ".dropped-";
constexpr size_t kNameBytesMax = 64;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool is_collection_name(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || name.front() == '.' || name.front() == '-') {
    return false;
  }
  for (const char c : name) {
    if (!is_name_character(c)) {
      return false;
    }
  }
  return true;
}

class FolderDatabase final : public Database {
 public:
  FolderDatabase(base::FileSystem& files, std::string path, const DatabaseOptions& options)
      : files_(files),
        path_(std::move(path)),
        options_(options),
        background_(std::make_shared<BackgroundWork>(options.background_threads)),
        memory_(MemoryBudget::create(options.memory_bytes_max)) {}
  /// Collections that someone still holds go on without a background.
  ~FolderDatabase() override { background_->stop(); }
  FolderDatabase(const FolderDatabase&) = delete;
  FolderDatabase& operator=(const FolderDatabase&) = delete;

  bool run_background() override { return background_->run_one(); }
  void settle() override { background_->settle(); }

  /// Names that an earlier process made and did not sync become durable before anything builds on
  /// them.
  Result<void> load(const std::string& directory) {
    Result<void> made = files_.create_directories(path_);
    if (made) {
      made = files_.sync_directory(directory);
    }
    if (made) {
      made = files_.sync_directory(path_);
    }
    if (!made) {
      return made;
    }
    Result<std::vector<base::FileEntry>> entries = files_.list(path_);
    if (!entries) {
      return pass_on(entries);
    }
    for (const base::FileEntry& entry : *entries) {
      if (entry.name.starts_with(kNewPrefix) || entry.name.starts_with(kDroppedPrefix)) {
        remove_leftover(entry.name);
      } else if (entry.directory && is_collection_name(entry.name)) {
        auto opened = CollectionEngine::open(entry.name, folder_of(entry.name), options_,
                                             SharedParts{background_, memory_});
        if (!opened) {
          return pass_on(opened);
        }
        collections_[entry.name] = std::move(*opened);
      }
    }
    return {};
  }

  Result<std::shared_ptr<Collection>> create(const std::string& name, const Schema& schema,
                                             const std::string& settings) override {
    if (!is_collection_name(name)) {
      return fail_field(Code::InvalidArgument, "collection",
                        "'{}' is no name of a collection: 1 to {} of A-Z a-z 0-9 . _ -, the first "
                        "a letter, digit or underscore",
                        name.substr(0, 2 * kNameBytesMax), kNameBytesMax);
    }
    if (Result<void> checked = CollectionEngine::check_schema(schema, options_); !checked) {
      return pass_on(checked);
    }
    if (auto analyzer = text::Analyzer::create(schema.language); !analyzer) {
      return pass_on(analyzer);
    }
    const std::lock_guard lock(mutex_);
    if (collections_.contains(name)) {
      return fail_field(Code::AlreadyExists, "collection", "collection '{}' is there already",
                        name);
    }
    if (Result<void> made = make_folder(name, schema, settings); !made) {
      return pass_on(made);
    }
    auto opened =
        CollectionEngine::open(name, folder_of(name), options_, SharedParts{background_, memory_});
    if (!opened) {
      return pass_on(opened);
    }
    collections_[name] = *opened;
    return std::shared_ptr<Collection>(std::move(*opened));
  }

  Result<std::shared_ptr<Collection>> find(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    const auto found = collections_.find(name);
    if (found == collections_.end()) {
      return not_found(name);
    }
    return std::shared_ptr<Collection>(found->second);
  }

  std::vector<std::string> names() const override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, collection] : collections_) {
      names.push_back(name);
    }
    return names;
  }

  Result<void> drop(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto found = collections_.find(name);
    if (found == collections_.end()) {
      return not_found(name);
    }
    found->second->set_dropped(true);
    const std::string hidden = fmt::format("{}{}-{}", kDroppedPrefix, name, base::random_hex(4));
    Result<void> done = files_.rename(base::join_path(path_, name), base::join_path(path_, hidden));
    if (!done) {
      found->second->set_dropped(false);
      return done;
    }
    collections_.erase(found);
    done = files_.sync_directory(path_);
    remove_leftover(hidden);
    return done;
  }

 private:
  Folder folder_of(const std::string& name) const {
    return Folder(files_, base::join_path(path_, name));
  }

  tl::unexpected<Error> not_found(const std::string& name) const {
    std::string known;
    for (const auto& [other, collection] : collections_) {
      known += (known.empty() ? "" : ", ") + other;
    }
    return fail_field(Code::NotFound, "collection", "collection '{}' is not there; there {}",
                      name.substr(0, 2 * kNameBytesMax),
                      known.empty() ? "are none" : "are: " + known);
  }

  /// Whole under another name first, so that a crash leaves all or nothing.
  Result<void> make_folder(const std::string& name, const Schema& schema,
                           const std::string& settings) {
    const std::string hidden = fmt::format("{}{}-{}", kNewPrefix, name, base::random_hex(4));
    const Folder folder = folder_of(hidden);
    Result<void> done = files_.create_directories(folder.path());
    if (done) {
      done = CollectionEngine::create_files(folder, schema, settings);
    }
    if (done) {
      done = files_.rename(folder.path(), base::join_path(path_, name));
    }
    if (!done) {
      if (files_.exists(folder.path())) {
        remove_leftover(hidden);
      }
      return done;
    }
    return files_.sync_directory(path_);
  }

  void remove_leftover(const std::string& name) const {
    if (Result<void> removed = files_.remove_tree(base::join_path(path_, name)); !removed) {
      base::log_warning("store", "a left-over stays until the next start: {}",
                        removed.error().message);
    }
  }

  base::FileSystem& files_;
  const std::string path_;
  const DatabaseOptions options_;
  const std::shared_ptr<BackgroundWork> background_;
  const std::shared_ptr<MemoryBudget> memory_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<CollectionEngine>> collections_;  ///< guarded by mutex_
};

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& directory,
                                                 const DatabaseOptions& options,
                                                 base::FileSystem& files) {
  auto database = std::make_unique<FolderDatabase>(
      files, base::join_path(directory, kCollectionsFolder), options);
  if (Result<void> loaded = database->load(directory); !loaded) {
    return pass_on(loaded);
  }
  return database;
}

}  // namespace sibyl::store
