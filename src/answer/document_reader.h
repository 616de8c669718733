#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/document.h"
#include "base/result.h"

namespace sibyl::answer {

struct ReadOptions {
  std::map<std::string, std::string> columns;    ///< --map text=body,title=subject: ours -> theirs
  uint64_t file_bytes_max = uint64_t{1} << 30;   ///< of a document file, unpacked
  uint64_t line_bytes_max = uint64_t{32} << 20;  ///< of a JSONL or CSV row
  int64_t converter_timeout_ms = 60'000;         ///< pdftotext
  uint64_t converter_memory_bytes_max = uint64_t{2} << 30;
  size_t html_depth_max = 512;
  /// Called with each symbolic link inside a folder: those are not followed.
  std::function<void(const std::string& link)> on_link;
  std::stop_token stop;
};

/// A file or row that could not be read.
struct ReadFailure {
  std::string file;
  uint64_t line = 0;  ///< from 1; 0 when the whole file is wrong
  std::string id;
  Error error;
};

/// Finds the files under PATH arguments (folders recursively, sorted, hidden ones and symbolic
/// links skipped; known types only; a PATH that is a link itself is followed) and reads them by
/// type: .html .htm .md .txt .pdf .csv .tsv .jsonl, each maybe .gz,
/// "-" for JSONL on standard input. Ids: path relative to the PATH argument ('/' as separator),
/// `#line` for rows without an id. Runs in the process that adds, never in the server. Duplicate
/// ids within one call are failures of the later row.
class DocumentReader {
 public:
  /// NotFound for a path that is not there, InvalidArgument for a file of an unknown type.
  static Result<std::vector<std::string>> find_files(const std::vector<std::string>& paths);
  explicit DocumentReader(ReadOptions options) : options_(std::move(options)) {}
  /// Calls `on_document` for each document and `on_failure` for each that is wrong; either returns
  /// false to stop. An error of the call itself is one that no row can answer for.
  Result<void> read(const std::vector<std::string>& paths,
                    const std::function<bool(Document&&, const std::string& file)>& on_document,
                    const std::function<bool(const ReadFailure&)>& on_failure) const;

 private:
  ReadOptions options_;
};

}  // namespace sibyl::answer
