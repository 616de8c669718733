#pragma once

#include <seldon.grpc.pb.h>

#include "server/internal/grpc_calls.h"
#include "server/internal/seldon_message.h"

namespace sibyl::server {

/// seldon.protos.Model: what Seldon's executor calls.
class SeldonModelService final : public seldon::protos::Model::CallbackService {
 public:
  explicit SeldonModelService(GrpcCalls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context,
                                    const seldon::protos::SeldonMessage* request,
                                    seldon::protos::SeldonMessage* reply) override;
  grpc::ServerUnaryReactor* SendFeedback(grpc::CallbackServerContext* context,
                                         const seldon::protos::Feedback* request,
                                         seldon::protos::SeldonMessage* reply) override;
  grpc::ServerUnaryReactor* Metadata(grpc::CallbackServerContext* context,
                                     const google::protobuf::Empty* request,
                                     seldon::protos::SeldonModelMetadata* reply) override;

 private:
  GrpcCalls& calls_;
};

/// seldon.protos.Seldon: what clients call, with an executor before the model or without.
class SeldonClientService final : public seldon::protos::Seldon::CallbackService {
 public:
  explicit SeldonClientService(GrpcCalls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context,
                                    const seldon::protos::SeldonMessage* request,
                                    seldon::protos::SeldonMessage* reply) override;
  grpc::ServerUnaryReactor* SendFeedback(grpc::CallbackServerContext* context,
                                         const seldon::protos::Feedback* request,
                                         seldon::protos::SeldonMessage* reply) override;
  grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* context,
                                          const seldon::protos::SeldonModelMetadataRequest* request,
                                          seldon::protos::SeldonModelMetadata* reply) override;
  grpc::ServerUnaryReactor* GraphMetadata(grpc::CallbackServerContext* context,
                                          const google::protobuf::Empty* request,
                                          seldon::protos::SeldonGraphMetadata* reply) override;

 private:
  GrpcCalls& calls_;
};

/// What a message asks; InvalidArgument as for the same message as JSON.
Result<SeldonRequest> read_seldon_message(const seldon::protos::SeldonMessage& message);
void write_seldon_message(const SeldonRequest& request, const Prediction& made,
                          seldon::protos::SeldonMessage& reply);

}  // namespace sibyl::server
