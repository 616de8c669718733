#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/result.h"
#include "server/application.h"

namespace sibyl::server {

/// A model directory of this machine; `folder` holds it when it was fetched.
struct LocalModel {
  std::string path;
  std::unique_ptr<base::TemporaryDirectory> folder;
};

/// The model at a directory (a path or file://), or at an address of another machine, http(s):// or
/// s3://. An address is a model directory with its sibyl.json, or a pointer beside numbered ones,
/// as .../models/helpdesk/current (docs/formats/model-pointer.md). Every file that sibyl.json lists
/// is fetched and must have its checksum. NotFound, PermissionDenied, Unavailable (after several
/// tries), DataLoss, Interrupted.
Result<LocalModel> fetch_model(const std::string& uri, const ModelSourceOptions& options,
                               std::stop_token stop);

/// The version that a pointer's text names: {"version": 3}, {"version": "3"} or just 3.
Result<std::string> version_of_pointer(std::string_view text);

/// "http://host:8080/a/b" as "http://host:8080" and "/a/b"; InvalidArgument when it is none.
struct ModelAddress {
  std::string origin;
  std::string path;  ///< without a slash at its end
};
Result<ModelAddress> parse_model_address(std::string_view uri);

}  // namespace sibyl::server
