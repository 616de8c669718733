#include "server/internal/served_model_json.h"

#include <utility>

namespace sibyl::server {
namespace {

void write_model(base::JsonWriter& json, const ServedModels::Model& model) {
  const encoder::EncoderInfo& info = model.encoder->info();
  json.begin_object().key("id").text(model.name).key("object").text("model");
  json.key("created").integer(0).key("owned_by").text("sibyl").key("name").text(model.name);
  json.key("version").text(info.version);
  json.key("dimension").integer(static_cast<int64_t>(info.dimension));
  json.key("kind").text(model.kind).end_object();
}

}  // namespace

void write_remote_model(base::JsonWriter& json, const RemoteModels::Listed& model,
                        const std::string& default_name, bool local) {
  json.begin_object().key("id").text(model.name).key("object").text("model");
  json.key("created").integer(0).key("owned_by").text("sibyl").key("name").text(model.name);
  if (model.info) {
    json.key("version").text(model.info->version);
    json.key("dimension").integer(static_cast<int64_t>(model.info->dimension));
  }
  json.key("kind").text("served").key("default").boolean(model.name == default_name);
  json.key("served").boolean(true).key("answers").boolean(model.answers);
  if (local) {
    json.key("address").text(model.address);
  }
  json.end_object();
}

Response list_served_models(const ServedModels& served) {
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("object").text("list").key("data").begin_array();
  for (const ServedModels::Model& model : served.models()) {
    write_model(json, model);
  }
  json.end_array().end_object();
  return json_response(200, std::move(body));
}

Result<Response> get_served_model(ServedModels& served, const std::string& reference) {
  const auto encoder = served.find(reference);
  if (!encoder) {
    return tl::unexpected<Error>(encoder.error());
  }
  std::string body;
  base::JsonWriter json(body);
  for (const ServedModels::Model& model : served.models()) {
    if (model.encoder == *encoder) {
      write_model(json, model);
      break;
    }
  }
  return json_response(200, std::move(body));
}

}  // namespace sibyl::server
