#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::answer::internal {

enum class FileType { Html, Markdown, Text, Pdf, Csv, Tsv, Jsonl, Unknown };

struct FoundFile {
  std::string path;  ///< "-" is standard input
  std::string id;    ///< relative to the argument that it was found under, '/' as separator
  FileType type = FileType::Unknown;
  bool gzip = false;
};

/// By the name's ending, whatever its case; `.gz` after it is looked through.
FileType type_of(std::string_view path, bool& gzip);

/// Files under paths: folders recursively, sorted by id, hidden and unknown ones skipped, folders
/// behind links not entered.
Result<std::vector<FoundFile>> find_document_files(const std::vector<std::string>& paths);

}  // namespace sibyl::answer::internal
