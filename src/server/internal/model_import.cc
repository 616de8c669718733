#include "server/internal/model_import.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "server/internal/model_source.h"

namespace sibyl::server {
namespace {

constexpr size_t kFilesMax = 64;
constexpr size_t kPathBytesMax = 200;
constexpr size_t kDepthMax = 3;

/// "1_Pooling/config.json": parts of letters, digits, `.`, `_`, `-`, none of them hidden.
bool is_model_path(std::string_view path) {
  size_t depth = 0;
  if (path.empty() || path.size() > kPathBytesMax) {
    return false;
  }
  while (true) {
    const std::string_view part = path.substr(0, path.find('/'));
    const bool clean = std::ranges::all_of(part, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
    });
    if (part.empty() || part.front() == '.' || !clean || ++depth > kDepthMax) {
      return false;
    }
    if (part.size() == path.size()) {
      return true;
    }
    path.remove_prefix(part.size() + 1);
  }
}

Result<std::string> directory_of(const std::string& uri, bool local) {
  static constexpr std::string_view kFile = "file://";
  std::string path = uri.starts_with(kFile) ? uri.substr(kFile.size()) : uri;
  if (!local) {
    return fail_field(Code::PermissionDenied, "uri",
                      "a directory of the server can be named by commands on its own machine "
                      "only; upload the model's files and name them in 'files'");
  }
  if (!path.starts_with('/')) {
    return fail_field(Code::InvalidArgument, "uri", "'{}' is not an absolute path", uri);
  }
  return path;
}

Result<std::map<std::string, std::string>> files_of(const base::Json& json) {
  std::map<std::string, std::string> files;
  for (const auto& [path, id] : json.items()) {
    if (!is_model_path(path)) {
      return fail_field(Code::InvalidArgument, "files",
                        "'{}' is no path within a model directory, as 1_Pooling/config.json", path);
    }
    if (!id.is_string()) {
      return fail_field(Code::InvalidArgument, "files." + path, "it must be the id of an upload");
    }
    files.emplace(path, id.get<std::string>());
  }
  if (files.empty() || files.size() > kFilesMax) {
    return fail_field(Code::InvalidArgument, "files", "a model has 1 to {} files; {} are named",
                      kFilesMax, files.size());
  }
  return files;
}

}  // namespace

Result<ModelImport> parse_model_import(std::string_view body, bool local) {
  const auto json = base::parse_json(body, "the body");
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  base::JsonFields fields(*json);
  ModelImport import;
  import.name = fields.required_text("name");
  const std::string uri = fields.text("uri");
  const base::Json* files = fields.object("files");
  if (auto finished = fields.finish(); !finished) {
    return pass_on(finished);
  }
  if (uri.empty() == (files == nullptr)) {
    return fail_field(Code::InvalidArgument, "uri", "give either 'uri' or 'files'");
  }
  if (files != nullptr) {
    auto named = files_of(*files);
    if (!named) {
      return pass_on(named);
    }
    import.files = std::move(*named);
    return import;
  }
  if (uri.find("://") != std::string::npos && !uri.starts_with("file://")) {
    if (auto address = parse_model_address(uri); !address) {
      return pass_on(address);
    }
    import.address = uri;
    return import;
  }
  auto directory = directory_of(uri, local);
  if (!directory) {
    return pass_on(directory);
  }
  import.directory = std::move(*directory);
  return import;
}

Result<void> assemble_model(const ModelImport& import, const Uploads& uploads,
                            const std::string& folder) {
  for (const auto& [path, id] : import.files) {
    const auto upload = uploads.path_of(id);
    if (!upload) {
      return fail_field(Code::NotFound, "files." + path, "{}", upload.error().message);
    }
    const std::filesystem::path target = std::filesystem::path(folder) / path;
    std::error_code error;
    std::filesystem::create_directories(target.parent_path(), error);
    if (!error) {
      std::filesystem::copy_file(*upload, target, error);
    }
    if (error) {
      return fail(code_from_errno(error.value()), "'{}' cannot be put together: {}",
                  target.string(), error.message());
    }
  }
  return {};
}

int64_t model_created(const model::ModelEntry& entry) {
  const auto status = base::real_file_system().status(entry.path);
  return status ? status->modified_us / 1'000'000 : 0;
}

}  // namespace sibyl::server
