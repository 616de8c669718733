#pragma once

#include <functional>
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

/// Called with the path of each symbolic link inside a folder.
using OnLink = std::function<void(const std::string& link)>;

/// Files under paths: folders recursively, sorted by id, hidden and unknown ones skipped. A path
/// that is a link itself is followed. Links inside folders are not: what they point to is found
/// where it lies, or was not asked for, and links in circles end nowhere.
Result<std::vector<FoundFile>> find_document_files(const std::vector<std::string>& paths,
                                                   const OnLink& on_link);

}  // namespace sibyl::answer::internal
