#include "model/registry.h"

#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/file_system.h"
#include "base/log.h"
#include "base/random.h"
#include "model/internal/model_files.h"
#include "model/internal/model_reference.h"
#include "model/internal/version_folder.h"

namespace sibyl::model {

namespace {

class FolderRegistry final : public Registry {
 public:
  explicit FolderRegistry(std::string directory) : directory_(std::move(directory)) {}

  /// Finds the models there are and clears what an interrupted import left.
  Result<void> load() {
    const std::lock_guard lock(mutex_);
    auto made = files().create_directories(directory_);
    if (!made) {
      return pass_on(made);
    }
    auto names = files().list(directory_);
    if (!names) {
      return pass_on(names);
    }
    for (const base::FileEntry& entry : *names) {
      if (entry.directory && is_model_name(entry.name)) {
        auto loaded = load_versions(entry.name);
        if (!loaded) {
          return pass_on(loaded);
        }
      }
    }
    return load_default();
  }

  std::vector<ModelEntry> list() const override {
    const std::lock_guard lock(mutex_);
    std::vector<ModelEntry> out;
    for (const auto& [name, versions] : models_) {
      for (const auto& [version, entry] : versions) {
        out.push_back(with_default(entry));
      }
    }
    return out;
  }

  Result<ModelEntry> find(const std::string& reference) const override {
    const std::lock_guard lock(mutex_);
    return find_locked(reference);
  }

  Result<ModelEntry> import(const std::string& source_directory, const std::string& name) override {
    auto checked = check_model_name(name);
    if (!checked) {
      return pass_on(checked);
    }
    const std::lock_guard lock(mutex_);
    const std::string folder = base::join_path(directory_, name);
    auto made = files().create_directories(folder);
    if (!made) {
      return pass_on(made);
    }
    const std::string incoming =
        base::join_path(folder, fmt::format("{}{}", kIncoming, base::random_hex(4)));
    auto entry = import_into(source_directory, name, incoming);
    if (!entry && files().exists(incoming)) {
      // The first failure is the one to report; what was copied must not stay.
      static_cast<void>(files().remove_tree(incoming));
    }
    return entry;
  }

  Result<void> export_to(const std::string& reference, const std::string& directory) override {
    const std::lock_guard lock(mutex_);
    auto entry = find_locked(reference);
    if (!entry) {
      return pass_on(entry);
    }
    if (files().exists(directory)) {
      auto there = files().list(directory);
      if (!there || !there->empty()) {
        return fail(Code::AlreadyExists, "{}: is there already; name a new or empty folder",
                    directory);
      }
    }
    return copy_model(entry->path, directory);
  }

  Result<void> set_default(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    auto entry = find_locked(name);
    if (!entry) {
      return pass_on(entry);
    }
    return write_default(entry->name);
  }

  Result<void> remove(const std::string& reference) override {
    const std::lock_guard lock(mutex_);
    auto parsed = parse_model_reference(reference);
    if (!parsed) {
      return pass_on(parsed);
    }
    auto entry = find_locked(reference);
    if (!entry) {
      return pass_on(entry);
    }
    auto& versions = models_[parsed->name];
    while (!versions.empty()) {
      const auto last = parsed->version ? versions.find(*parsed->version) : --versions.end();
      auto removed = remove_version(last->second);
      if (!removed) {
        return pass_on(removed);
      }
      versions.erase(last);
      if (parsed->version) {
        break;
      }
    }
    if (versions.empty()) {
      models_.erase(parsed->name);
    }
    return default_ == parsed->name && !models_.contains(parsed->name) ? clear_default()
                                                                       : Result<void>();
  }

  std::optional<std::string> default_name() const override {
    const std::lock_guard lock(mutex_);
    return default_.empty() ? std::nullopt : std::optional<std::string>(default_);
  }

 private:
  static base::FileSystem& files() { return base::real_file_system(); }

  Result<void> load_versions(const std::string& name) {
    const std::string folder = base::join_path(directory_, name);
    auto entries = files().list(folder);
    if (!entries) {
      return pass_on(entries);
    }
    for (const base::FileEntry& item : *entries) {
      const std::string path = base::join_path(folder, item.name);
      if (item.directory && item.name.starts_with(kIncoming)) {
        auto removed = files().remove_tree(path);
        if (!removed) {
          return pass_on(removed);
        }
        continue;
      }
      const std::optional<uint32_t> version = parse_model_version(item.name);
      if (!item.directory || !version) {
        continue;
      }
      auto entry = describe_version(path, name, *version);
      if (!entry) {
        // One damaged model must not keep the others from being served.
        base::log_error("model", "model {}@{} is left out: {}", name, *version,
                        entry.error().message);
        continue;
      }
      models_[name].emplace(*version, std::move(*entry));
    }
    return {};
  }

  Result<void> load_default() {
    const std::string path = base::join_path(directory_, kDefaultFile);
    if (!files().exists(path)) {
      return {};
    }
    auto text = base::read_file(path, kModelNameLengthMax + 1);
    if (!text) {
      return pass_on(text);
    }
    while (text->ends_with('\n')) {
      text->pop_back();
    }
    if (models_.contains(*text)) {
      default_ = *text;
    } else {
      base::log_warning("model", "the default model '{}' is not there", *text);
    }
    return {};
  }

  ModelEntry with_default(ModelEntry entry) const {
    entry.is_default = entry.name == default_;
    return entry;
  }

  Result<ModelEntry> find_locked(const std::string& reference) const {
    if (reference.empty() && default_.empty()) {
      return fail(Code::NotFound, "there is no default model; import one");
    }
    auto parsed = parse_model_reference(reference.empty() ? default_ : reference);
    if (!parsed) {
      return pass_on(parsed);
    }
    const auto model = models_.find(parsed->name);
    if (model == models_.end()) {
      std::vector<std::string> names;
      for (const auto& [name, versions] : models_) {
        names.push_back(name);
      }
      return fail_field(Code::NotFound, "model", "model '{}' is not there; there {}", parsed->name,
                        names.empty() ? "is none yet: import one"
                                      : fmt::format("are: {}", fmt::join(names, ", ")));
    }
    const auto& versions = model->second;
    const auto found =
        parsed->version ? versions.find(*parsed->version) : std::prev(versions.end());
    if (found == versions.end()) {
      std::vector<uint32_t> numbers;
      for (const auto& [number, entry] : versions) {
        numbers.push_back(number);
      }
      return fail_field(Code::NotFound, "model", "model '{}' has no version {}; there are: {}",
                        parsed->name, *parsed->version, fmt::join(numbers, ", "));
    }
    return with_default(found->second);
  }

  Result<ModelEntry> import_into(const std::string& source, const std::string& name,
                                 const std::string& incoming) {
    auto copied = copy_model(source, incoming);
    if (!copied) {
      return pass_on(copied);
    }
    auto model = read_model_directory(incoming);
    if (!model) {
      // The user knows the folder that was given, not the copy.
      std::string& message = model.error().message;
      for (size_t at = message.find(incoming); at != std::string::npos;
           at = message.find(incoming, at + source.size())) {
        message.replace(at, incoming.size(), source);
      }
      return pass_on(model);
    }
    const auto known = models_.find(name);
    auto version = next_version(base::join_path(directory_, name),
                                known == models_.end() ? 0 : std::prev(known->second.end())->first);
    if (!version) {
      return pass_on(version);
    }
    Provenance provenance = (*model)->provenance;
    provenance.name = name;
    provenance.version = std::to_string(*version);
    provenance.dimension = (*model)->dimension;
    auto done = write_provenance(incoming, std::move(provenance));
    const std::string folder = base::join_path(directory_, name);
    const std::string path = base::join_path(folder, std::to_string(*version));
    if (done) {
      done =
          base::replace_file(base::join_path(folder, kNextFile), fmt::format("{}\n", *version + 1));
    }
    if (done) {
      done = files().rename(incoming, path);
    }
    if (done) {
      done = files().sync_directory(folder);
    }
    if (done) {
      done = files().sync_directory(directory_);
    }
    if (!done) {
      return pass_on(done);
    }
    auto entry = describe_version(path, name, *version);
    if (!entry) {
      return pass_on(entry);
    }
    models_[name].emplace(*version, *entry);
    if (default_.empty()) {
      done = write_default(name);
      if (!done) {
        return pass_on(done);
      }
    }
    return with_default(std::move(*entry));
  }

  Result<void> remove_version(const ModelEntry& entry) {
    // Renamed first: a version is there whole or not at all, whenever the process stops.
    const std::string folder = base::join_path(directory_, entry.name);
    const std::string leaving =
        base::join_path(folder, fmt::format("{}{}", kIncoming, base::random_hex(4)));
    auto done = files().rename(entry.path, leaving);
    if (done) {
      done = files().sync_directory(folder);
    }
    return done ? files().remove_tree(leaving) : done;
  }

  Result<void> write_default(const std::string& name) {
    auto written = base::replace_file(base::join_path(directory_, kDefaultFile), name + "\n");
    if (written) {
      default_ = name;
    }
    return written;
  }

  Result<void> clear_default() {
    auto removed = files().remove(base::join_path(directory_, kDefaultFile));
    if (removed) {
      default_.clear();
      removed = files().sync_directory(directory_);
    }
    return removed;
  }

  const std::string directory_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<uint32_t, ModelEntry>> models_;
  std::string default_;
};

}  // namespace

Result<std::unique_ptr<Registry>> Registry::open(const std::string& directory) {
  auto registry = std::make_unique<FolderRegistry>(directory);
  auto loaded = registry->load();
  if (!loaded) {
    return pass_on(loaded);
  }
  return std::unique_ptr<Registry>(std::move(registry));
}

}  // namespace sibyl::model
