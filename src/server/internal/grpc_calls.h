#pragma once

#include <functional>
#include <string>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include "base/result.h"
#include "server/internal/model_service.h"
#include "server/internal/serving.h"

namespace sibyl::server {

grpc::Status grpc_status_of(const Error& error);

/// How the services run their calls: the key, the lane, the log line, the metrics. Thread-safe.
class GrpcCalls {
 public:
  GrpcCalls(ModelService& models, Serving& serving) : models_(models), serving_(serving) {}

  ModelService& models() { return models_; }
  std::stop_token stop_token() const { return serving_.stop_token(); }

  /// Runs `work`, which fills in the reply, on a worker; large requests (`bytes`) with the long
  /// ones. `method` is a literal.
  grpc::ServerUnaryReactor* run(grpc::CallbackServerContext* context, std::string_view method,
                                uint64_t bytes, std::function<Result<void>()> work);
  /// The same at once on gRPC's own thread, for what takes no time and needs no key.
  grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext* context, std::string_view method,
                                   const std::function<Result<void>()>& work);

 private:
  ModelService& models_;
  Serving& serving_;
};

}  // namespace sibyl::server
