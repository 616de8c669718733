#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"
#include "index/checked_file.h"

namespace sibyl::store {

/// A collection's folder and the names of its files (docs/formats/collection-directory.md).
/// Thread-safe.
class Folder {
 public:
  Folder(base::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  base::FileSystem& files() const { return files_; }
  const std::string& path() const { return path_; }
  std::string path_of(std::string_view name) const { return base::join_path(path_, name); }

  static std::string log_name(uint64_t number);
  static std::string rows_name(uint64_t segment);
  static std::string postings_name(uint64_t segment, size_t field);
  static std::string vectors_name(uint64_t segment, uint64_t generation, size_t field);
  static std::string index_name(uint64_t number, uint64_t generation, size_t field,
                                std::string_view kind);
  /// The number of a log's name; false for other names.
  static bool parse_log_name(std::string_view name, uint64_t& number);
  /// Whether a name is one that the store gives, so that it may be removed when nothing needs it.
  static bool is_ours(std::string_view name);
  /// The number in a name of ours, 0 when it has none.
  static uint64_t number_in(std::string_view name);

  /// Writes a file and syncs it; the folder is synced by `sync`. Gives its size. A file that could
  /// not be written whole is removed.
  Result<uint64_t> write(const std::string& name,
                         const std::function<Result<void>(const index::ByteSink&)>& make) const;
  Result<void> sync() const { return files_.sync_directory(path_); }
  Result<std::shared_ptr<const base::FileView>> map(const std::string& name) const {
    return files_.map(path_of(name));
  }
  /// Removes a file that nothing needs any more; a failure is logged, as the next start tries
  /// again.
  void discard(const std::string& name) const;

 private:
  base::FileSystem& files_;
  std::string path_;
};

}  // namespace sibyl::store
