#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"
#include "store/internal/record.h"

namespace sibyl::store {

/// Appends groups of records to one log file: all of a group are synced together, then a mark says
/// so. Externally synchronised.
class LogWriter {
 public:
  /// A new log with its header on the disk (the folder is not synced). A `copy` repeats the records
  /// of logs before it and counts only once the manifest starts with it.
  static Result<std::unique_ptr<LogWriter>> create(base::FileSystem& files, const std::string& path,
                                                   uint64_t number, bool copy = false);
  /// Goes on at `end`, the end of the last whole record, a mark.
  static Result<std::unique_ptr<LogWriter>> open(base::FileSystem& files, const std::string& path,
                                                 uint64_t number, uint64_t end);

  /// Puts a record into the group that the next `commit` writes.
  void add(RecordType type, uint64_t sequence, int64_t row_key, std::string_view payload,
           uint32_t payload_checksum);
  /// Durable when it succeeds. When it fails nothing of the group counts, and `usable` says whether
  /// the log takes another group: after a failed sync it does not, as nobody knows what the disk
  /// has.
  Result<void> commit();
  /// Drops what was added and not committed.
  void discard() { group_.clear(); }
  /// Ends the log: a later one goes on.
  Result<void> end(uint64_t sequence);

  bool usable() const { return file_ != nullptr; }
  bool empty() const { return end_ == kLogHeaderBytes; }
  uint64_t bytes() const { return end_; }
  uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }

 private:
  LogWriter(base::FileSystem& files, std::string path, uint64_t number)
      : files_(files), path_(std::move(path)), number_(number) {}
  /// Removes the bytes of a failed append; gives the file up when that fails too.
  void cut_to_end();
  void append_mark(uint64_t sequence);

  base::FileSystem& files_;
  std::string path_;
  uint64_t number_;
  std::unique_ptr<base::WritableFile> file_;
  uint64_t end_ = 0;
  uint64_t synced_ = 0;  ///< bytes that are on the disk: all but the last mark
  std::string group_;
  uint64_t last_sequence_ = 0;
};

}  // namespace sibyl::store
