#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/internal/model_service.h"
#include "server/internal/serving.h"

namespace sibyl::server {

/// Seldon's and the Open Inference Protocol's services over gRPC, with its health service and
/// reflection. Calls run on the workers of `serving`, whose limits hold for them too.
class GrpcServer {
 public:
  /// Listens at "host:port", with TLS when the listener's options have it. Unavailable when the
  /// port is in use.
  static Result<std::unique_ptr<GrpcServer>> start(ModelService& models, Serving& serving,
                                                   bool loopback_only);
  virtual ~GrpcServer() = default;
  virtual std::string address() const = 0;  ///< with the port chosen
  /// Takes no new calls and waits for the running ones; those that last longer are cancelled.
  virtual void stop(int64_t timeout_ms) = 0;
};

}  // namespace sibyl::server
