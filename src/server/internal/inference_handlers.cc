#include <utility>

#include "base/json_writer.h"
#include "server/application.h"
#include "server/internal/handlers.h"
#include "server/internal/open_inference.h"

namespace sibyl::server {
namespace {

/// "name" or "name@version" of /v2/models/{model}[/versions/{version}]/….
std::string reference_of(const Call& call) {
  return call.captures.size() < 2 ? call.captures[0]
                                  : fmt::format("{}@{}", call.captures[0], call.captures[1]);
}

void write_tensor(base::JsonWriter& json, std::string_view name, std::string_view datatype,
                  std::initializer_list<int64_t> shape) {
  json.begin_array().begin_object().key("name").text(name).key("datatype").text(datatype);
  json.key("shape").begin_array();
  for (const int64_t size : shape) {
    json.integer(size);
  }
  json.end_array().end_object().end_array();
}

}  // namespace

Result<Response> inference_server(Services&, const Call&) {
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("name").text("sibyl").key("version").text(version());
  json.key("extensions").begin_array().text("binary_tensor_data").end_array().end_object();
  return json_response(200, std::move(body));
}

Result<Response> inference_live(Services&, const Call&) {
  return json_response(200, R"({"live":true})");
}

Result<Response> inference_ready(Services& services, const Call&) {
  if (services.draining) {
    return fail(Code::Unavailable, "the server is shutting down");
  }
  return json_response(200, R"({"ready":true})");
}

Result<Response> inference_model(Services& services, const Call& call) {
  const auto encoder = find_encoder(services.models(), reference_of(call));
  if (!encoder) {
    return tl::unexpected<Error>(encoder.error());
  }
  const encoder::EncoderInfo& info = (*encoder)->info();
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("name").text(call.captures[0]);
  json.key("versions").begin_array().text(info.version).end_array();
  json.key("platform").text(kPlatform).key("inputs");
  write_tensor(json, kTextTensor, "BYTES", {-1});
  json.key("outputs");
  write_tensor(json, kVectorTensor, "FP32", {-1, static_cast<int64_t>(info.dimension)});
  json.end_object();
  return json_response(200, std::move(body));
}

Result<Response> inference_model_ready(Services& services, const Call& call) {
  if (const auto encoder = find_encoder(services.models(), reference_of(call)); !encoder) {
    return tl::unexpected<Error>(encoder.error());
  }
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("name").text(call.captures[0]).key("ready").boolean(true).end_object();
  return json_response(200, std::move(body));
}

Result<Response> infer(Services& services, const Call& call) {
  const auto header = call.request.headers.find("inference-header-content-length");
  const auto request =
      parse_infer_request(call.request.body, header == call.request.headers.end()
                                                 ? std::nullopt
                                                 : std::optional<std::string_view>(header->second));
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  const auto made =
      predict(services.models(), reference_of(call), request->texts, request->kind, call.stop);
  if (!made) {
    return tl::unexpected<Error>(made.error());
  }
  return infer_reply(*request, *made, call.captures[0]);
}

}  // namespace sibyl::server
