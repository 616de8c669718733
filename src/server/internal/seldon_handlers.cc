#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "base/json_writer.h"
#include "base/metrics.h"
#include "server/internal/handlers.h"
#include "server/internal/open_inference.h"
#include "server/internal/seldon_message.h"

namespace sibyl::server {
namespace {

/// What a message says of the model's side: its array's column and type.
void write_messages(base::JsonWriter& json, std::string_view name, int64_t columns) {
  json.begin_array().begin_object().key("messagetype").text("ndarray");
  json.key("schema").begin_object().key("names").begin_array().text(name).end_array();
  json.key("shape").begin_array().integer(columns).end_array().end_object();
  json.end_object().end_array();
}

}  // namespace

Result<Response> seldon_predict(Services& services, const Call& call) {
  const auto message = seldon_json_of(call.request);
  if (!message) {
    return tl::unexpected<Error>(message.error());
  }
  const auto request = parse_seldon_request(*message);
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  const auto made = predict(services.models(), {}, request->texts, request->kind, call.stop);
  if (!made) {
    return tl::unexpected<Error>(made.error());
  }
  return json_response(200, seldon_reply(*request, *made));
}

Result<Response> seldon_feedback(Services&, const Call& call) {
  const auto text = seldon_json_of(call.request);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto feedback = base::parse_json(*text, "the feedback");
  if (!feedback) {
    return tl::unexpected<Error>(feedback.error());
  }
  if (!feedback->is_object()) {
    return fail(Code::InvalidArgument, "the feedback must be a JSON object with 'reward'");
  }
  count_reward(base::number_at(*feedback, "reward"));
  return json_response(200, R"({"meta":{}})");
}

void count_reward(double reward) {
  if (!std::isfinite(reward)) {
    return;
  }
  base::metrics().counter("sibyl_seldon_feedback_total", "Rewards that clients sent").add();
  base::metrics().gauge("sibyl_seldon_reward", "Sum of the rewards that clients sent").add(reward);
}

Result<Response> seldon_health(Services& services, const Call&) {
  if (services.draining) {
    return fail(Code::Unavailable, "the server is shutting down");
  }
  return json_response(200, R"({"strData":"ready","meta":{}})");
}

Result<Response> seldon_ping(Services&, const Call&) {
  Response response = json_response(200, "pong");
  response.content_type = "text/plain; charset=utf-8";
  return response;
}

Result<Response> seldon_metadata(Services& services, const Call&) {
  const auto encoder = find_encoder(services.models(), {});
  if (!encoder) {
    return tl::unexpected<Error>(encoder.error());
  }
  const encoder::EncoderInfo& info = (*encoder)->info();
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("apiVersion").text("v1").key("name").text(info.model);
  json.key("versions").begin_array().text(info.version).end_array();
  json.key("platform").text(kPlatform).key("inputs");
  write_messages(json, kTextTensor, 1);
  json.key("outputs");
  write_messages(json, kVectorTensor, 1);
  json.key("custom").begin_object().key("dimension").text(std::to_string(info.dimension));
  json.end_object().end_object();
  return json_response(200, std::move(body));
}

}  // namespace sibyl::server
