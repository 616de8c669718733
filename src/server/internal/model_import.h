#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/registry.h"
#include "server/internal/uploads.h"

namespace sibyl::server {

/// What POST /v1/models asks for: a directory of this machine, an address elsewhere, or files that
/// were uploaded.
struct ModelImport {
  std::string name;
  std::string directory;                     ///< absolute; empty: `address` or `files`
  std::string address;                       ///< http(s):// or s3://
  std::map<std::string, std::string> files;  ///< path within the model -> upload id
};

/// `local`: the peer may name a directory. PermissionDenied when it may not, InvalidArgument for
/// addresses of other schemes and for paths that lead out of the model.
Result<ModelImport> parse_model_import(std::string_view body, bool local);

/// Puts the uploads where they belong, under `folder`.
Result<void> assemble_model(const ModelImport& import, const Uploads& uploads,
                            const std::string& folder);

/// Seconds since 1970 when the model came into the registry, from its folder; 0 when unknown.
int64_t model_created(const model::ModelEntry& entry);

}  // namespace sibyl::server
