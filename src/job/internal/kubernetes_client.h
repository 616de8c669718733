#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "job/step.h"

namespace sibyl::job::internal {

/// The API server as a pod reaches it: its account's token and the cluster's certificate. Requests
/// that the server could not answer are tried again. Not thread-safe.
class KubernetesClient {
 public:
  static Result<std::unique_ptr<KubernetesClient>> open(const DeployTarget& where,
                                                        std::stop_token stop);
  virtual ~KubernetesClient() = default;
  /// NotFound, PermissionDenied, Unauthenticated, InvalidData (422), Unavailable; the message has
  /// what the server says.
  virtual Result<base::Json> get(const std::string& path) = 0;
  /// Server-side apply as field manager `sibyl`, winning conflicts.
  virtual Result<base::Json> apply(const std::string& path, const base::Json& object) = 0;
};

}  // namespace sibyl::job::internal
