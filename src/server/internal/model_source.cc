#include "server/internal/model_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/stop.h"
#include "model/provenance.h"
#include "net/http_client.h"
#include "server/internal/model_folder.h"

namespace sibyl::server {
namespace {

constexpr const char* kProvenanceFile = "sibyl.json";
constexpr uint64_t kSmallFileBytesMax = 4 << 20;
constexpr size_t kFilesMax = 1000;
constexpr size_t kVersionBytesMax = 64;

/// Asks again while nobody answers.
template <class Work>
auto with_patience(const ModelSourceOptions& options, const std::stop_token& stop, Work work)
    -> decltype(work()) {
  double pause_s = static_cast<double>(options.first_pause_ms) / 1000;
  for (int attempt = 1;; ++attempt) {
    auto outcome = work();
    const bool again = !outcome && (outcome.error().code == Code::Unavailable ||
                                    outcome.error().code == Code::DeadlineExceeded);
    if (!again || attempt >= options.attempts) {
      return outcome;
    }
    base::log_warning("server", "{}; asking again in {:.1f} s", outcome.error().message, pause_s);
    if (base::sleep_until_stop(stop, pause_s)) {
      return fail(Code::Interrupted, "stopped while the model was fetched");
    }
    pause_s *= 2;
  }
}

/// What lies at the address: sibyl.json of a directory, or the directory that a pointer names.
struct Found {
  std::string path;
  std::string provenance;
};

Result<Found> find_directory(ModelFolder& folder, const std::string& path) {
  auto provenance = folder.read(path + "/" + kProvenanceFile, kSmallFileBytesMax);
  if (provenance || provenance.error().code != Code::NotFound) {
    return provenance ? Result<Found>(Found{path, std::move(*provenance)}) : pass_on(provenance);
  }
  auto pointer = folder.read(path, kSmallFileBytesMax);
  if (!pointer) {
    return pass_on(pointer);
  }
  const auto version = version_of_pointer(*pointer);
  if (!version) {
    return tl::unexpected<Error>(version.error());
  }
  const std::string directory = path.substr(0, path.rfind('/') + 1) + *version;
  provenance = folder.read(directory + "/" + kProvenanceFile, kSmallFileBytesMax);
  if (!provenance) {
    return pass_on(provenance, fmt::format("the pointer names version {}", *version));
  }
  return Found{directory, std::move(*provenance)};
}

Result<void> fetch_files(ModelFolder& folder, const Found& found, const std::string& target) {
  if (auto written = base::replace_file(base::join_path(target, kProvenanceFile), found.provenance);
      !written) {
    return written;
  }
  // Paths that lead out of the folder are refused there.
  const auto provenance = model::read_provenance(target);
  if (!provenance) {
    return tl::unexpected<Error>(provenance.error());
  }
  if (provenance->checksums.empty() || provenance->checksums.size() > kFilesMax) {
    return fail(Code::InvalidData, "its sibyl.json lists {} files; a model has 1 to {}",
                provenance->checksums.size(), kFilesMax);
  }
  for (const auto& [path, checksum] : provenance->checksums) {
    const std::string place = base::join_path(target, path);
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(place).parent_path(), error);
    if (error) {
      return fail(code_from_errno(error.value()), "'{}' cannot be made: {}", place,
                  error.message());
    }
    if (auto fetched = folder.fetch(found.path + "/" + path, place); !fetched) {
      return pass_on(fetched, path);
    }
  }
  return model::verify_checksums(target);
}

Result<LocalModel> fetch_remote(const std::string& uri, const ModelSourceOptions& options,
                                const std::stop_token& stop) {
  const auto address = parse_model_address(uri);
  if (!address) {
    return tl::unexpected<Error>(address.error());
  }
  auto folder = ModelFolder::open(address->origin, options, stop);
  if (!folder) {
    return pass_on(folder);
  }
  const auto fetch = [&]() -> Result<LocalModel> {
    const auto found = find_directory(**folder, address->path);
    if (!found) {
      return tl::unexpected<Error>(found.error());
    }
    LocalModel local;
    local.folder = std::make_unique<base::TemporaryDirectory>();
    local.path = local.folder->path();
    if (auto fetched = fetch_files(**folder, *found, local.path); !fetched) {
      return pass_on(fetched);
    }
    base::log_info("server", "the model of {}{} was fetched", address->origin, found->path);
    return local;
  };
  return with_patience(options, stop, fetch);
}

}  // namespace

Result<std::string> version_of_pointer(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  std::string version(text.substr(0, kVersionBytesMax + 1));
  const auto json = base::parse_json(text, "the pointer");
  if (json && json->is_object()) {
    const auto found = json->find("version");
    const bool number = found != json->end() && found->is_number_integer();
    version = found != json->end() && found->is_string() ? found->get<std::string>()
              : number                                   ? std::to_string(found->get<int64_t>())
                                                         : std::string();
  }
  const bool right = !version.empty() && version.size() <= kVersionBytesMax &&
                     version.front() != '.' && version.front() != '-' &&
                     std::ranges::all_of(version, [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
                     });
  if (!right) {
    return fail(Code::InvalidData,
                "what lies there is neither a model directory with a sibyl.json nor a pointer, "
                "which is {{\"version\": \"3\"}}");
  }
  return version;
}

Result<ModelAddress> parse_model_address(std::string_view uri) {
  const size_t scheme = uri.find("://");
  const size_t slash = scheme == std::string_view::npos ? scheme : uri.find('/', scheme + 3);
  ModelAddress address;
  if (slash != std::string_view::npos) {
    address.origin = std::string(uri.substr(0, slash));
    address.path = std::string(uri.substr(slash));
  }
  while (address.path.ends_with('/')) {
    address.path.pop_back();
  }
  const std::string_view kind = uri.substr(0, std::min(scheme, uri.size()));
  if ((kind != "http" && kind != "https" && kind != "s3") || address.path.empty() ||
      address.origin.find('@') != std::string::npos ||
      address.path.find_first_of("?#") != std::string::npos) {
    return fail_field(Code::InvalidArgument, "uri",
                      "'{}' is no address of a model; give a directory, "
                      "http(s)://HOST/PATH or s3://BUCKET/PATH, without user name or query",
                      address.origin.find('@') == std::string::npos ? uri : kind);
  }
  if (kind != "s3") {
    auto decoded = net::decode_uri_part(address.path);  // it is encoded again when it is asked for
    if (!decoded) {
      return pass_on(decoded);
    }
    address.path = std::move(*decoded);
  }
  return address;
}

Result<LocalModel> fetch_model(const std::string& uri, const ModelSourceOptions& options,
                               std::stop_token stop) {
  static constexpr std::string_view kFile = "file://";
  const std::string path = uri.starts_with(kFile) ? uri.substr(kFile.size()) : uri;
  if (path.find("://") != std::string::npos) {
    return fetch_remote(path, options, stop);
  }
  if (path.empty()) {
    return fail_field(Code::InvalidArgument, "uri", "the model's directory is empty");
  }
  return LocalModel{path, nullptr};
}

}  // namespace sibyl::server
