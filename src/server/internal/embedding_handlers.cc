#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "server/internal/embedding_request.h"
#include "server/internal/handlers.h"

namespace sibyl::server {
namespace {

/// So few texts are somebody's questions; more of them wait behind questions.
constexpr size_t kUrgentTextsMax = 4;

void write_vectors(base::JsonWriter& json, const std::vector<float>& vectors, size_t dimension,
                   bool as_base64) {
  const size_t texts = vectors.size() / dimension;
  for (size_t i = 0; i < texts; ++i) {
    const std::span<const float> vector(vectors.data() + i * dimension, dimension);
    json.begin_object().key("object").text("embedding");
    json.key("index").integer(static_cast<int64_t>(i)).key("embedding");
    if (as_base64) {
      std::string bytes;  // little-endian, whatever this machine is
      bytes.reserve(dimension * sizeof(float));
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
  const auto encoder = services.encoders->find(request->model);
  if (!encoder) {
    Error error = encoder.error();
    error.field = error.code == Code::NotFound ? "model" : error.field;
    return tl::unexpected<Error>(std::move(error));
  }
  const encoder::EncoderInfo& info = (*encoder)->info();
  if (request->dimensions != 0 && request->dimensions != info.dimension) {
    return fail_field(Code::InvalidArgument, "dimensions",
                      "model '{}' gives vectors of {} numbers, and they cannot be cut to {}; "
                      "leave 'dimensions' out",
                      request->model, info.dimension, request->dimensions);
  }
  const std::vector<std::string_view> texts(request->input.begin(), request->input.end());
  encoder::EncodeOptions options;
  options.urgency =
      texts.size() <= kUrgentTextsMax ? encoder::Urgency::Question : encoder::Urgency::Document;
  options.stop = call.stop;
  const auto encoded = (*encoder)->encode(texts, options);
  if (!encoded) {
    return tl::unexpected<Error>(encoded.error());
  }
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("object").text("list").key("data").begin_array();
  write_vectors(json, encoded->vectors, info.dimension, request->as_base64);
  json.end_array().key("model").text(request->model).key("usage").begin_object();
  json.key("prompt_tokens").integer(static_cast<int64_t>(encoded->tokens));
  json.key("total_tokens").integer(static_cast<int64_t>(encoded->tokens));
  json.end_object().end_object();
  return json_response(200, std::move(body));
}

}  // namespace sibyl::server
