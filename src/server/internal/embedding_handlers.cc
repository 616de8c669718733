#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "server/internal/embedding_request.h"
#include "server/internal/handlers.h"
#include "server/internal/prediction.h"

namespace sibyl::server {
namespace {

void write_vectors(base::JsonWriter& json, const Prediction& made, bool as_base64) {
  for (size_t i = 0; i < made.texts(); ++i) {
    const std::span<const float> vector = made.vector(i);
    json.begin_object().key("object").text("embedding");
    json.key("index").integer(static_cast<int64_t>(i)).key("embedding");
    if (as_base64) {
      std::string bytes;  // little-endian, whatever this machine is
      bytes.reserve(vector.size_bytes());
      for (const float value : vector) {
        base::put_f32(bytes, value);
      }
      json.text(base::base64(bytes));
    } else {
      json.floats(vector);
    }
    json.end_object();
  }
}

}  // namespace

Result<Response> make_embeddings(Services& services, const Call& call) {
  const auto request = parse_embedding_request(call.request.body);
  if (!request) {
    return tl::unexpected<Error>(request.error());
  }
  const auto encoder = find_encoder(services.models(), request->model);
  if (encoder && request->dimensions != 0 && request->dimensions != (*encoder)->info().dimension) {
    return fail_field(Code::InvalidArgument, "dimensions",
                      "model '{}' gives vectors of {} numbers, and they cannot be cut to {}; "
                      "leave 'dimensions' out",
                      request->model, (*encoder)->info().dimension, request->dimensions);
  }
  const auto made = predict(services.models(), request->model, request->input,
                            encoder::TextKind::Document, call.stop);
  if (!made) {
    return tl::unexpected<Error>(made.error());
  }
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("object").text("list").key("data").begin_array();
  write_vectors(json, *made, request->as_base64);
  json.end_array().key("model").text(request->model).key("usage").begin_object();
  json.key("prompt_tokens").integer(static_cast<int64_t>(made->tokens));
  json.key("total_tokens").integer(static_cast<int64_t>(made->tokens));
  json.end_object().end_object();
  return json_response(200, std::move(body));
}

}  // namespace sibyl::server
