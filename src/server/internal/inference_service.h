#pragma once

#include <open_inference.grpc.pb.h>

#include "server/internal/grpc_calls.h"
#include "server/internal/open_inference.h"

namespace sibyl::server {

/// inference.GRPCInferenceService.
class InferenceService final : public inference::GRPCInferenceService::CallbackService {
 public:
  explicit InferenceService(GrpcCalls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* ServerLive(grpc::CallbackServerContext* context,
                                       const inference::ServerLiveRequest* request,
                                       inference::ServerLiveResponse* reply) override;
  grpc::ServerUnaryReactor* ServerReady(grpc::CallbackServerContext* context,
                                        const inference::ServerReadyRequest* request,
                                        inference::ServerReadyResponse* reply) override;
  grpc::ServerUnaryReactor* ModelReady(grpc::CallbackServerContext* context,
                                       const inference::ModelReadyRequest* request,
                                       inference::ModelReadyResponse* reply) override;
  grpc::ServerUnaryReactor* ServerMetadata(grpc::CallbackServerContext* context,
                                           const inference::ServerMetadataRequest* request,
                                           inference::ServerMetadataResponse* reply) override;
  grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* context,
                                          const inference::ModelMetadataRequest* request,
                                          inference::ModelMetadataResponse* reply) override;
  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context,
                                       const inference::ModelInferRequest* request,
                                       inference::ModelInferResponse* reply) override;

 private:
  GrpcCalls& calls_;
};

/// What a message asks; InvalidArgument as for the same request over HTTP. `binary_output` when the
/// input came raw.
Result<InferRequest> read_infer_message(const inference::ModelInferRequest& message);

}  // namespace sibyl::server
