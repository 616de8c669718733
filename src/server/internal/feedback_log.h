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

/// A judgement of a passage as an answer.
struct FeedbackRow {
  std::string time;
  std::string collection;
  std::string question;
  std::string answer_id;  ///< the document's id
  std::string passage_id;
  bool good = true;
};
std::string feedback_to_json(const FeedbackRow& row);

/// DIR/feedback.jsonl: one judgement a line, synced before it is acknowledged; a torn last line is
/// cut when the file is opened. Thread-safe.
class FeedbackLog {
 public:
  static constexpr uint64_t kBytesMax = uint64_t{1} << 30;

  static Result<std::unique_ptr<FeedbackLog>> open(const std::string& path);
  Result<void> append(const FeedbackRow& row);

  struct Page {
    std::vector<std::string> lines;  ///< JSON
    uint64_t next = 0;               ///< line number to go on after; 0 at the end
  };
  /// Lines behind number `after` (from 1) of one collection, or of all when it is empty.
  Result<Page> list(const std::string& collection, uint64_t after, size_t limit) const;
  /// JSONL of {"question", "answer_id"}: documents whose last judgement for a question was good.
  Result<std::string> pairs(const std::string& collection) const;

 private:
  FeedbackLog(std::string path, std::unique_ptr<base::WritableFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  mutable std::mutex mutex_;
  std::unique_ptr<base::WritableFile> file_;  ///< guarded by `mutex_`
  Error broken_;  ///< guarded by `mutex_`; why a write failed, after which none is tried
};

}  // namespace sibyl::server
