#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/lock_file.h"
#include "base/result.h"
#include "net/object_store.h"

namespace sibyl::job::internal {

/// A workspace in an object store, and its copy in a folder of this machine that the step works in.
/// The store is the truth: `fetch` makes the folder like it, `save` makes it like the folder, with
/// `done/STEP` last. Not thread-safe.
class WorkspaceMirror {
 public:
  /// Unavailable when another process of this machine works on the same workspace.
  static Result<std::unique_ptr<WorkspaceMirror>> open(const std::string& uri,
                                                       net::ObjectStoreOptions store);
  const std::string& folder() const { return folder_; }

  /// Empties the folder and brings down what `step` reads.
  Result<void> fetch(std::string_view step, const std::stop_token& stop);
  /// Brings up what has changed, the events first, and removes what the step has removed;
  /// Interrupted at once by `stop`.
  Result<void> save(std::string_view step, const std::stop_token& stop);
  /// Brings up checkpoints and events alone, as they are now; Interrupted at once by `stop`.
  Result<void> save_progress(const std::stop_token& stop);

 private:
  struct Stamp {
    uint64_t bytes = 0;
    int64_t modified_us = 0;
    bool operator==(const Stamp&) const = default;
  };
  WorkspaceMirror(std::string uri, net::ObjectAddress address, net::ObjectStoreOptions store,
                  std::string folder, std::unique_ptr<base::LockFile> lock);
  Result<std::unique_ptr<net::ObjectStore>> store(std::stop_token stop) const;
  std::string key_of(const std::string& relative) const;
  /// The path within the workspace; empty for the marker of a folder.
  Result<std::string> relative_of(const std::string& key) const;
  Result<std::map<std::string, Stamp>> local_files() const;
  Result<void> put_changed(net::ObjectStore& store, const std::map<std::string, Stamp>& files,
                           bool done_marks);
  Result<void> put_if_changed(net::ObjectStore& store, const std::string& path, const Stamp& stamp);

  const std::string uri_;
  const net::ObjectAddress address_;
  const net::ObjectStoreOptions options_;
  const std::string folder_;
  const std::unique_ptr<base::LockFile> lock_;
  std::map<std::string, Stamp> saved_;  ///< files that are the same in the store
  std::set<std::string> remote_;        ///< paths that the store has
};

}  // namespace sibyl::job::internal
