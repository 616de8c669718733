#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "answer/document.h"
#include "base/file_system.h"
#include "base/result.h"

namespace sibyl::cli {

/// Documents that were read and checked, kept in a temporary file until they are sent: memory stays
/// small however large the input is, and files and pipes are read once.
class DocumentSpool {
 public:
  static Result<std::unique_ptr<DocumentSpool>> open();
  /// `origin` is where the document came from.
  Result<void> add(const answer::Document& document, const std::string& origin);
  struct Batch {
    std::string body;  ///< JSONL of a bounded size
    uint64_t rows = 0;
    std::set<std::string> origins;  ///< few, and short together
  };
  /// In the order added.
  Result<void> for_each_batch(const std::function<Result<void>(const Batch&)>& on_batch);
  uint64_t documents() const { return documents_; }
  const std::set<std::string>& ids() const { return ids_; }

 private:
  base::TemporaryDirectory folder_;
  std::unique_ptr<base::WritableFile> file_;
  std::string buffer_;
  uint64_t documents_ = 0;
  std::set<std::string> ids_;
  std::vector<std::pair<uint64_t, std::string>> origins_;  ///< first row of each, from 0
};

}  // namespace sibyl::cli
