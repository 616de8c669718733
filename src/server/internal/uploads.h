#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

namespace sibyl::server {

struct UploadInfo {
  std::string id;  ///< SHA-256 of the bytes and the name's ending: "9f86….jsonl"
  uint64_t bytes = 0;
  int64_t created_us = 0;
};

/// Files that clients gave for jobs and models: DIR/uploads/ID. Bounded together; files that nobody
/// touched for a day make room first. Thread-safe.
class Uploads {
 public:
  struct Limits {
    uint64_t bytes_max = uint64_t{8} << 30;
    size_t files_max = 1000;
    int64_t keep_us = int64_t{24} * 3600 * 1'000'000;
  };
  static Result<std::unique_ptr<Uploads>> open(const std::string& directory, const Limits& limits);

  /// Keeps the bytes, durably; `name` gives the ending. The same bytes give the same id.
  Result<UploadInfo> put(std::string_view name, std::string_view bytes, int64_t now_us);
  std::vector<UploadInfo> list() const;
  /// The absolute path of an upload's file; NotFound for an unknown id, whatever it looks like.
  Result<std::string> path_of(std::string_view id) const;
  Result<void> remove(std::string_view id);

 private:
  Uploads(std::string directory, const Limits& limits)
      : directory_(std::move(directory)), limits_(limits) {}
  Result<void> make_room(uint64_t bytes, int64_t now_us);
  Result<std::vector<base::FileEntry>> entries() const;

  const std::string directory_;
  const Limits limits_;
  mutable std::mutex mutex_;
};

/// ".jsonl", ".csv.gz" of a file's name; empty when the name has no such ending. Letters and digits
/// only, at most 16 bytes.
std::string upload_ending(std::string_view name);
/// 64 lower-case hexadecimal digits, then an ending of `upload_ending`'s form or nothing.
bool is_upload_id(std::string_view text);

}  // namespace sibyl::server
