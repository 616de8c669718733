#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "answer/document.h"
#include "base/file_system.h"
#include "base/result.h"

namespace sibyl::cli {

/// Documents that were read and checked, kept in a temporary file until they are sent: memory stays
/// small however large the input is, and files and pipes are read once.
class DocumentSpool {
 public:
  static Result<std::unique_ptr<DocumentSpool>> open();
  Result<void> add(const answer::Document& document);
  /// Calls `on_batch` with JSONL of a bounded size and its number of rows, in the order added.
  Result<void> for_each_batch(
      const std::function<Result<void>(const std::string& body, uint64_t rows)>& on_batch);
  uint64_t documents() const { return documents_; }
  const std::set<std::string>& ids() const { return ids_; }

 private:
  base::TemporaryDirectory folder_;
  std::unique_ptr<base::WritableFile> file_;
  std::string buffer_;
  uint64_t documents_ = 0;
  std::set<std::string> ids_;
};

}  // namespace sibyl::cli
