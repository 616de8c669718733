#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::base {

/// How bytes of a file are going to be read.
enum class ReadPattern {
  Usual,   ///< The system reads on beyond what is touched, as far as it is set up to.
  Singly,  ///< Here and there: nothing is read but what is touched.
  Soon,    ///< All of it: reading begins now, and nobody waits for it.
};

/// Read-only bytes of a whole file, mapped by the real file system. Immutable; lives until the last
/// holder lets go, also after the file is removed.
class FileView {
 public:
  virtual ~FileView() = default;
  virtual std::string_view bytes() const = 0;
  /// Changes how long reading takes and nothing else. Bytes beyond the end are passed over.
  virtual void expect(ReadPattern /*pattern*/, size_t /*offset*/, size_t /*length*/) const {}
};

/// A file being written. Externally synchronised. Closing without `sync` promises nothing.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Result<void> append(std::string_view bytes) = 0;
  /// Contents are on the disk when this returns.
  virtual Result<void> sync() = 0;
  virtual Result<void> close() = 0;
  virtual uint64_t size() const = 0;
};

struct FileEntry {
  std::string name;
  uint64_t bytes = 0;
  bool directory = false;
  int64_t modified_us = 0;
};

/// Every call that touches the disk, so that tests can lose un-synced bytes and fail any call.
/// Thread-safe. Errors name the path and what the system said.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// A new empty file, replacing an old one.
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  /// Opens to append, creating it when missing; `keep_bytes` cuts it there first (a torn tail).
  virtual Result<std::unique_ptr<WritableFile>> open_append(const std::string& path,
                                                            uint64_t keep_bytes) = 0;
  virtual Result<std::shared_ptr<const FileView>> map(const std::string& path) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;
  virtual Result<void> remove_tree(const std::string& path) = 0;
  /// Makes creations, renames and removals in it durable.
  virtual Result<void> sync_directory(const std::string& path) = 0;
  /// With its parents; no error when it is there.
  virtual Result<void> create_directories(const std::string& path) = 0;
  /// Sorted by name; not recursive.
  virtual Result<std::vector<FileEntry>> list(const std::string& path) = 0;
  virtual bool exists(const std::string& path) = 0;
  virtual Result<FileEntry> status(const std::string& path) = 0;
};

/// The machine's file system.
FileSystem& real_file_system();

/// Whole small file into memory; TooLarge above `bytes_max`.
Result<std::string> read_file(const std::string& path, uint64_t bytes_max = uint64_t{1} << 30,
                              FileSystem& files = real_file_system());
/// Writes beside the target, syncs, renames, syncs the folder: either the old or the new file is
/// there after a crash.
Result<void> replace_file(const std::string& path, std::string_view bytes,
                          FileSystem& files = real_file_system());
/// `a/b` for ("a", "b"); `b` when it is absolute.
std::string join_path(std::string_view folder, std::string_view name);
/// A fresh folder under $TMPDIR, removed with everything in it by the destructor.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sibyl::base
