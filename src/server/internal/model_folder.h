#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "server/application.h"

namespace sibyl::server {

/// Files of another machine, behind http(s):// or in a bucket. Not thread-safe.
class ModelFolder {
 public:
  /// `origin` is "http://host:port", "https://…" or "s3://bucket".
  static Result<std::unique_ptr<ModelFolder>> open(const std::string& origin,
                                                   const ModelSourceOptions& options,
                                                   std::stop_token stop);
  virtual ~ModelFolder() = default;
  /// A small file. NotFound, PermissionDenied, Unavailable, TooLarge.
  virtual Result<std::string> read(const std::string& path, uint64_t bytes_max) = 0;
  /// A file of any size, into `target`, whose folder is there.
  virtual Result<void> fetch(const std::string& path, const std::string& target) = 0;
};

}  // namespace sibyl::server
