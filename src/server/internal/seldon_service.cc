#include "server/internal/seldon_service.h"

#include <utility>

#include "server/internal/open_inference.h"

namespace sibyl::server {
namespace {

using google::protobuf::Empty;
using google::protobuf::Value;
using seldon::protos::Feedback;
using seldon::protos::SeldonGraphMetadata;
using seldon::protos::SeldonMessage;
using seldon::protos::SeldonMessageMetadata;
using seldon::protos::SeldonModelMetadata;
using seldon::protos::SeldonModelMetadataRequest;
using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;

void write_messages(SeldonMessageMetadata& message, std::string_view name) {
  message.set_messagetype("ndarray");
  auto& fields = *message.mutable_schema()->mutable_struct_value()->mutable_fields();
  fields["names"].mutable_list_value()->add_values()->set_string_value(std::string(name));
  fields["shape"].mutable_list_value()->add_values()->set_number_value(1);
}

void write_metadata(const encoder::EncoderInfo& info, SeldonModelMetadata& reply) {
  reply.set_name(info.model);
  reply.add_versions(info.version);
  reply.set_platform(std::string(kPlatform));
  write_messages(*reply.add_inputs(), kTextTensor);
  write_messages(*reply.add_outputs(), kVectorTensor);
  (*reply.mutable_custom())["dimension"] = std::to_string(info.dimension);
}

Reactor* predict_message(GrpcCalls& calls, Context* context, const SeldonMessage* request,
                         SeldonMessage* reply) {
  return calls.run(
      context, "Predict", request->ByteSizeLong(), [&calls, request, reply]() -> Result<void> {
        const auto asked = read_seldon_message(*request);
        if (!asked) {
          return tl::unexpected<Error>(asked.error());
        }
        const auto made =
            predict(calls.models().models(), {}, asked->texts, asked->kind, calls.stop_token());
        if (!made) {
          return tl::unexpected<Error>(made.error());
        }
        write_seldon_message(*asked, *made, *reply);
        return {};
      });
}

Reactor* take_feedback(GrpcCalls& calls, Context* context, const Feedback* request,
                       SeldonMessage* reply) {
  return calls.run(context, "SendFeedback", 0, [request, reply]() -> Result<void> {
    count_reward(static_cast<double>(request->reward()));
    reply->mutable_meta();
    return {};
  });
}

Reactor* tell_metadata(GrpcCalls& calls, Context* context, const std::string& name,
                       SeldonModelMetadata* reply) {
  return calls.run(context, "ModelMetadata", 0, [&calls, name, reply]() -> Result<void> {
    auto found = find_encoder(calls.models().models(), name);
    if (!found) {
      return pass_on(found);
    }
    write_metadata((*found)->info(), *reply);
    return {};
  });
}

}  // namespace

Reactor* SeldonModelService::Predict(Context* context, const SeldonMessage* request,
                                     SeldonMessage* reply) {
  return predict_message(calls_, context, request, reply);
}
Reactor* SeldonModelService::SendFeedback(Context* context, const Feedback* request,
                                          SeldonMessage* reply) {
  return take_feedback(calls_, context, request, reply);
}
Reactor* SeldonModelService::Metadata(Context* context, const Empty*, SeldonModelMetadata* reply) {
  return tell_metadata(calls_, context, {}, reply);
}

Reactor* SeldonClientService::Predict(Context* context, const SeldonMessage* request,
                                      SeldonMessage* reply) {
  return predict_message(calls_, context, request, reply);
}
Reactor* SeldonClientService::SendFeedback(Context* context, const Feedback* request,
                                           SeldonMessage* reply) {
  return take_feedback(calls_, context, request, reply);
}
Reactor* SeldonClientService::ModelMetadata(Context* context,
                                            const SeldonModelMetadataRequest* request,
                                            SeldonModelMetadata* reply) {
  return tell_metadata(calls_, context, request->name(), reply);
}
Reactor* SeldonClientService::GraphMetadata(Context* context, const Empty*,
                                            SeldonGraphMetadata* reply) {
  return calls_.run(context, "GraphMetadata", 0, [this, reply]() -> Result<void> {
    auto found = find_encoder(calls_.models().models(), {});
    if (!found) {
      return pass_on(found);
    }
    const encoder::EncoderInfo& info = (*found)->info();
    reply->set_name(info.model);
    write_metadata(info, (*reply->mutable_models())[info.model]);
    write_messages(*reply->add_inputs(), kTextTensor);
    write_messages(*reply->add_outputs(), kVectorTensor);
    return {};
  });
}

}  // namespace sibyl::server
