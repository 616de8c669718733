#include "answer/internal/file_finder.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace sibyl::answer::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesMax = 10'000'000;
constexpr size_t kFolderDepthMax = 256;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

Result<void> find_in_folder(const fs::path& folder, const OnLink& on_link,
                            std::vector<FoundFile>& files) {
  std::error_code problem;
  std::vector<FoundFile> found;
  fs::recursive_directory_iterator it(folder, problem);
  for (; !problem && it != fs::recursive_directory_iterator(); it.increment(problem)) {
    const fs::directory_entry& entry = *it;
    std::error_code ignored;
    if (entry.is_symlink(ignored)) {
      if (on_link && !is_hidden(entry.path())) {
        on_link(entry.path().string());
      }
      continue;
    }
    if (entry.is_directory(ignored)) {
      if (is_hidden(entry.path()) || static_cast<size_t>(it.depth()) >= kFolderDepthMax) {
        it.disable_recursion_pending();
      }
      continue;
    }
    FoundFile file;
    file.type = type_of(entry.path().string(), file.gzip);
    if (is_hidden(entry.path()) || file.type == FileType::Unknown ||
        !entry.is_regular_file(ignored)) {
      continue;
    }
    file.path = entry.path().string();
    file.id = entry.path().lexically_relative(folder).generic_string();
    found.push_back(std::move(file));
    if (files.size() + found.size() > kFilesMax) {
      return fail(Code::TooLarge, "'{}' holds more than {} files", folder.string(), kFilesMax);
    }
  }
  if (problem) {
    return fail(code_from_errno(problem.value()), "folder '{}' cannot be read: {}", folder.string(),
                problem.message());
  }
  std::sort(found.begin(), found.end(),
            [](const FoundFile& a, const FoundFile& b) { return a.id < b.id; });
  std::move(found.begin(), found.end(), std::back_inserter(files));
  return {};
}

}  // namespace

FileType type_of(std::string_view path, bool& gzip) {
  static constexpr std::array<std::pair<std::string_view, FileType>, 11> kEndings = {
      {{".html", FileType::Html},
       {".htm", FileType::Html},
       {".xhtml", FileType::Html},
       {".md", FileType::Markdown},
       {".markdown", FileType::Markdown},
       {".txt", FileType::Text},
       {".pdf", FileType::Pdf},
       {".csv", FileType::Csv},
       {".tsv", FileType::Tsv},
       {".jsonl", FileType::Jsonl},
       {".ndjson", FileType::Jsonl}}};
  std::string name(path);
  for (char& c : name) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  gzip = name.ends_with(".gz");
  if (gzip) {
    name.resize(name.size() - 3);
  }
  for (const auto& [ending, type] : kEndings) {
    if (name.ends_with(ending)) {
      return type;
    }
  }
  return FileType::Unknown;
}

Result<std::vector<FoundFile>> find_document_files(const std::vector<std::string>& paths,
                                                   const OnLink& on_link) {
  std::vector<FoundFile> files;
  for (const std::string& path : paths) {
    if (path == "-") {
      files.push_back({"-", "stdin", FileType::Jsonl, false});
      continue;
    }
    std::error_code problem;
    const fs::file_status status = fs::status(path, problem);
    if (!fs::exists(status)) {
      return fail(Code::NotFound, "'{}' is not there", path);
    }
    if (fs::is_directory(status)) {
      if (auto found = find_in_folder(path, on_link, files); !found) {
        return pass_on(found);
      }
      continue;
    }
    FoundFile file;
    file.type = type_of(path, file.gzip);
    if (file.type == FileType::Unknown) {
      return fail(Code::InvalidArgument,
                  "'{}' is of no known type; there are .html .htm .md .txt .pdf .csv .tsv .jsonl, "
                  "each also with .gz",
                  path);
    }
    file.path = path;
    file.id = fs::path(path).filename().string();
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace sibyl::answer::internal
