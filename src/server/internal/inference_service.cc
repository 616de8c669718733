#include "server/internal/inference_service.h"

#include <utility>
#include <vector>

#include "server/application.h"

namespace sibyl::server {
namespace {

std::string reference_of(const std::string& name, const std::string& version) {
  return version.empty() ? name : fmt::format("{}@{}", name, version);
}

Result<std::vector<std::string>> texts_of(const inference::ModelInferRequest& message) {
  if (message.inputs_size() != 1) {
    return fail_field(Code::InvalidArgument, "inputs", "there must be one input, '{}', not {}",
                      kTextTensor, message.inputs_size());
  }
  const auto& input = message.inputs(0);
  const std::vector<int64_t> shape(input.shape().begin(), input.shape().end());
  const auto count = check_text_tensor({input.name(), input.datatype(), shape});
  if (!count) {
    return tl::unexpected<Error>(count.error());
  }
  const int listed = input.contents().bytes_contents_size();
  if (message.raw_input_contents_size() > 0) {
    if (message.raw_input_contents_size() != 1 || listed > 0) {
      return fail_field(Code::InvalidArgument, "raw_input_contents",
                        "one input comes either in 'contents' or as one entry of "
                        "'raw_input_contents', not as {}",
                        message.raw_input_contents_size());
    }
    return read_raw_texts(message.raw_input_contents(0), *count);
  }
  if (static_cast<size_t>(listed) != *count) {
    return fail_field(Code::InvalidArgument, "inputs[0].contents",
                      "'bytes_contents' holds {} texts, but the shape says {}", listed, *count);
  }
  const auto& texts = input.contents().bytes_contents();
  return std::vector<std::string>(texts.begin(), texts.end());
}

void write_reply(const inference::ModelInferRequest& message, const InferRequest& request,
                 const Prediction& made, inference::ModelInferResponse& reply) {
  reply.set_model_name(message.model_name());
  reply.set_model_version(made.version);
  reply.set_id(request.id);
  auto& output = *reply.add_outputs();
  output.set_name(std::string(kVectorTensor));
  output.set_datatype("FP32");
  output.add_shape(static_cast<int64_t>(made.texts()));
  output.add_shape(static_cast<int64_t>(made.dimension));
  if (request.binary_output) {
    reply.add_raw_output_contents(made.bytes());
  } else {
    output.mutable_contents()->mutable_fp32_contents()->Add(made.vectors.begin(),
                                                            made.vectors.end());
  }
}

}  // namespace

Result<InferRequest> read_infer_message(const inference::ModelInferRequest& message) {
  InferRequest request;
  request.id = message.id();
  request.binary_output = message.raw_input_contents_size() > 0;
  if (const auto kind = message.parameters().find("kind"); kind != message.parameters().end()) {
    request.kind = text_kind_of(kind->second.string_param()).value_or(request.kind);
  }
  for (const auto& output : message.outputs()) {
    if (auto named = check_output_name(output.name()); !named) {
      return pass_on(named);
    }
  }
  auto texts = texts_of(message);
  if (!texts) {
    return pass_on(texts);
  }
  request.texts = std::move(*texts);
  if (auto checked = check_utf8(request.texts); !checked) {
    return pass_on(checked);
  }
  return request;
}

grpc::ServerUnaryReactor* InferenceService::ServerLive(grpc::CallbackServerContext* context,
                                                       const inference::ServerLiveRequest*,
                                                       inference::ServerLiveResponse* reply) {
  return calls_.answer(context, "ServerLive", [reply]() -> Result<void> {
    reply->set_live(true);
    return {};
  });
}

grpc::ServerUnaryReactor* InferenceService::ServerReady(grpc::CallbackServerContext* context,
                                                        const inference::ServerReadyRequest*,
                                                        inference::ServerReadyResponse* reply) {
  return calls_.answer(context, "ServerReady", [this, reply]() -> Result<void> {
    reply->set_ready(calls_.models().ready());
    return {};
  });
}

grpc::ServerUnaryReactor* InferenceService::ModelReady(grpc::CallbackServerContext* context,
                                                       const inference::ModelReadyRequest* request,
                                                       inference::ModelReadyResponse* reply) {
  return calls_.run(context, "ModelReady", 0, [this, request, reply]() -> Result<void> {
    auto found =
        find_encoder(calls_.models().models(), reference_of(request->name(), request->version()));
    if (!found) {
      return pass_on(found);
    }
    reply->set_ready(true);
    return {};
  });
}

grpc::ServerUnaryReactor* InferenceService::ServerMetadata(
    grpc::CallbackServerContext* context, const inference::ServerMetadataRequest*,
    inference::ServerMetadataResponse* reply) {
  return calls_.answer(context, "ServerMetadata", [reply]() -> Result<void> {
    reply->set_name(std::string(kPlatform));
    reply->set_version(std::string(version()));
    return {};
  });
}

grpc::ServerUnaryReactor* InferenceService::ModelMetadata(
    grpc::CallbackServerContext* context, const inference::ModelMetadataRequest* request,
    inference::ModelMetadataResponse* reply) {
  return calls_.run(context, "ModelMetadata", 0, [this, request, reply]() -> Result<void> {
    auto found =
        find_encoder(calls_.models().models(), reference_of(request->name(), request->version()));
    if (!found) {
      return pass_on(found);
    }
    const encoder::EncoderInfo& info = (*found)->info();
    reply->set_name(request->name());
    reply->add_versions(info.version);
    reply->set_platform(std::string(kPlatform));
    auto& input = *reply->add_inputs();
    input.set_name(std::string(kTextTensor));
    input.set_datatype("BYTES");
    input.add_shape(-1);
    auto& output = *reply->add_outputs();
    output.set_name(std::string(kVectorTensor));
    output.set_datatype("FP32");
    output.add_shape(-1);
    output.add_shape(static_cast<int64_t>(info.dimension));
    return {};
  });
}

grpc::ServerUnaryReactor* InferenceService::ModelInfer(grpc::CallbackServerContext* context,
                                                       const inference::ModelInferRequest* request,
                                                       inference::ModelInferResponse* reply) {
  return calls_.run(
      context, "ModelInfer", request->ByteSizeLong(), [this, request, reply]() -> Result<void> {
        const auto asked = read_infer_message(*request);
        if (!asked) {
          return tl::unexpected<Error>(asked.error());
        }
        const auto made = predict(calls_.models().models(),
                                  reference_of(request->model_name(), request->model_version()),
                                  asked->texts, asked->kind, calls_.stop_token());
        if (!made) {
          return tl::unexpected<Error>(made.error());
        }
        write_reply(*request, *asked, *made, *reply);
        return {};
      });
}

}  // namespace sibyl::server
