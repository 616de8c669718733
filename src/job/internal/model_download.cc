#include "job/internal/model_download.h"

#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "model/provenance.h"
#include "net/http_client.h"

namespace sibyl::job::internal {
namespace {

constexpr const char* kProvenanceFile = "sibyl.json";
constexpr size_t kFilesMax = 1000;
constexpr uint64_t kFileBytesMax = uint64_t{64} << 30;
constexpr uint64_t kProvenanceBytesMax = uint64_t{4} << 20;

// "1_Pooling/config.json" with each part encoded.
std::string encoded(const std::string& path) {
  std::string out;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    out += (out.empty() ? "" : "/") + net::encode_uri_part(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<base::TemporaryDirectory>> download_model(OwnerClient& owner,
                                                                 const base::Json& model,
                                                                 const std::stop_token& stop) {
  const std::string address =
      fmt::format("/v1/models/{}/{}/", net::encode_uri_part(base::text_at(model, "name")),
                  net::encode_uri_part(base::shown_at(model, "version")));
  auto folder = std::make_shared<base::TemporaryDirectory>();
  const std::string own = base::join_path(folder->path(), kProvenanceFile);
  if (auto got = owner.download(address + kProvenanceFile, own, kProvenanceBytesMax, stop); !got) {
    return pass_on(got);
  }
  // Paths that lead out of the folder are refused there.
  const auto provenance = model::read_provenance(folder->path());
  if (!provenance) {
    return tl::unexpected<Error>(provenance.error());
  }
  if (provenance->checksums.empty() || provenance->checksums.size() > kFilesMax) {
    return fail(Code::InvalidData, "its sibyl.json lists {} files; a model has 1 to {}",
                provenance->checksums.size(), kFilesMax);
  }
  for (const auto& [path, checksum] : provenance->checksums) {
    const std::string target = base::join_path(folder->path(), path);
    auto made = base::real_file_system().create_directories(target.substr(0, target.rfind('/')));
    if (!made) {
      return pass_on(made);
    }
    if (auto got = owner.download(address + encoded(path), target, kFileBytesMax, stop); !got) {
      return pass_on(got);
    }
  }
  if (auto whole = model::verify_checksums(folder->path()); !whole) {
    return pass_on(whole);
  }
  return folder;
}

}  // namespace sibyl::job::internal
