#include "job/internal/model_upload.h"

#include <map>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"

namespace sibyl::job::internal {
namespace {

using base::Json;

constexpr const char* kProvenanceFile = "sibyl.json";
constexpr size_t kSha256Digits = 64;

/// SHA-256 -> id of the owner's uploads.
Result<std::map<std::string, std::string>> uploads_there(OwnerClient& owner) {
  const auto reply = owner.call("GET", "/v1/uploads", {});
  if (!reply) {
    return tl::unexpected<Error>(reply.error());
  }
  std::map<std::string, std::string> there;
  for (const Json& upload : base::value_at(*reply, "uploads")) {
    const std::string id = base::text_at(upload, "id");
    there[id.substr(0, kSha256Digits)] = id;
  }
  return there;
}

Result<Json> upload_files(OwnerClient& owner, const std::string& folder,
                          const model::Provenance& provenance, const std::stop_token& stop) {
  auto there = uploads_there(owner);
  if (!there) {
    return pass_on(there);
  }
  std::map<std::string, std::string> wanted = provenance.checksums;
  wanted[kProvenanceFile];  // it does not list itself
  Json files = Json::object();
  for (const auto& [path, checksum] : wanted) {
    if (stop.stop_requested()) {
      return fail(Code::Interrupted, "stopped while the model was uploaded");
    }
    if (const auto known = there->find(checksum); known != there->end()) {
      files[path] = known->second;
      continue;
    }
    auto bytes = base::read_file(base::join_path(folder, path));
    if (!bytes) {
      return pass_on(bytes);
    }
    auto id = owner.upload(path, std::move(*bytes));
    if (!id) {
      return pass_on(id);
    }
    files[path] = std::move(*id);
  }
  return files;
}

}  // namespace

Result<Json> import_model(OwnerClient& owner, const std::string& name, const std::string& folder,
                          const model::Provenance& provenance, const std::stop_token& stop) {
  Json body = {{"name", name}};
  if (owner.shares_paths()) {
    body["uri"] = folder;
  } else {
    auto files = upload_files(owner, folder, provenance, stop);
    if (!files) {
      return pass_on(files);
    }
    body["files"] = std::move(*files);
  }
  return owner.call("POST", "/v1/models", base::dump_json(body), 0);
}

}  // namespace sibyl::job::internal
