#include <utility>

#include "base/json.h"
#include "server/internal/collection_json.h"
#include "server/internal/handlers.h"
#include "server/internal/replies.h"

namespace sibyl::server {
namespace {

Result<Response> reply_with(Services& services, const Call& call, int status) {
  const auto info = services.answers->info(call.captures[0]);
  if (!info) {
    return tl::unexpected<Error>(info.error());
  }
  std::string body;
  base::JsonWriter json(body);
  write_collection(json, *info, call.local());
  return json_response(status, std::move(body));
}

void write_settings(base::JsonWriter& json, const answer::CollectionSettings& settings) {
  json.begin_object().key("model");
  settings.model.empty() ? json.null() : json.text(settings.model);
  json.key("language").text(settings.language).key("pipeline").text(settings.pipeline);
  json.key("chunking");
  if (settings.chunking) {
    json.begin_object().key("tokens").integer(static_cast<int64_t>(settings.chunk_tokens));
    json.key("overlap").integer(static_cast<int64_t>(settings.chunk_overlap)).end_object();
  } else {
    json.text("off");
  }
  json.end_object();
}

double bytes_a_vector(uint64_t bytes, uint64_t vectors) {
  return vectors == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(vectors);
}

void write_vectors(base::JsonWriter& json,
                   const std::vector<store::VectorFieldStatistics>& fields) {
  json.key("vectors").begin_array();
  for (const store::VectorFieldStatistics& field : fields) {
    json.begin_object().key("field").text(field.name);
    json.key("dimension").integer(static_cast<int64_t>(field.dimension));
    json.key("vectors").integer(static_cast<int64_t>(field.vectors));
    json.key("index").text(field.index);
    json.key("indexed_vectors").integer(static_cast<int64_t>(field.indexed_vectors));
    json.key("resident_bytes_per_vector")
        .number(bytes_a_vector(field.resident_bytes, field.vectors));
    json.key("mapped_bytes_per_vector").number(bytes_a_vector(field.mapped_bytes, field.vectors));
    json.end_object();
  }
  json.end_array();
}

void write_operation(base::JsonWriter& json,
                     const std::optional<store::OperationProgress>& operation) {
  json.key("operation");
  if (!operation) {
    json.null();
    return;
  }
  json.begin_object().key("name").text(operation->name);
  json.key("done").integer(static_cast<int64_t>(operation->done));
  json.key("total").integer(static_cast<int64_t>(operation->total));
  json.key("background").boolean(operation->background).end_object();
}

}  // namespace

void write_collection(base::JsonWriter& json, const answer::CollectionInfo& info, bool local) {
  const auto number = [&json](const char* name, uint64_t value) {
    json.key(name).integer(static_cast<int64_t>(value));
  };
  json.begin_object().key("name").text(info.name).key("settings");
  write_settings(json, info.settings);
  number("rows", info.statistics.live_rows);
  number("deleted_rows", info.statistics.deleted_rows);
  number("segments", info.statistics.sealed_segments);
  number("tail_rows", info.statistics.tail_rows);
  number("logs", info.statistics.logs);
  number("log_bytes", info.statistics.log_bytes);
  number("disk_bytes", info.statistics.disk_bytes);
  number("sequence", info.statistics.sequence);
  write_vectors(json, info.statistics.vector_fields);
  json.key("health").text(info.statistics.trouble.empty() ? "ok" : info.statistics.trouble);
  write_operation(json, info.statistics.operation);
  json.key("switching");
  if (info.switching_to.empty()) {
    json.null();
  } else {
    json.begin_object().key("model").text(info.switching_to);
    json.key("share").number(info.switched_share).end_object();
  }
  json.key("awaits_model");
  info.awaited_model.empty() ? json.null() : json.text(info.awaited_model);
  json.key("rows_wait").boolean(info.rows_wait);
  if (local) {
    json.key("origins").begin_array();
    for (const std::string& origin : info.origins.names) {
      json.text(origin);
    }
    json.end_array().key("more_origins").boolean(!info.origins.complete);
  }
  json.end_object();
}

Result<Response> list_collections(Services& services, const Call& call) {
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("collections").begin_array();
  for (const std::string& name : services.answers->collections()) {
    // One that was dropped since its name was listed is not there any more.
    if (const auto info = services.answers->info(name)) {
      write_collection(json, *info, call.local());
    }
  }
  json.end_array().end_object();
  return json_response(200, std::move(body));
}

Result<Response> get_collection(Services& services, const Call& call) {
  return reply_with(services, call, 200);
}

Result<Response> put_collection(Services& services, const Call& call) {
  const auto wait = call.flag("wait", false);
  if (!wait) {
    return tl::unexpected<Error>(wait.error());
  }
  const std::string_view body =
      call.request.body.empty() ? std::string_view("{}") : std::string_view(call.request.body);
  const auto settings = base::parse_json(body, "the settings");
  if (!settings) {
    return tl::unexpected<Error>(settings.error());
  }
  if (!settings->is_object()) {
    return fail(Code::InvalidArgument,
                "the body must be an object of settings, as {{\"model\": \"minilm\"}}");
  }
  const auto created = services.answers->put_collection(call.captures[0], *settings, *wait);
  if (!created) {
    return tl::unexpected<Error>(created.error());
  }
  return reply_with(services, call, *created ? 201 : 200);
}

Result<Response> drop_collection(Services& services, const Call& call) {
  if (auto dropped = services.answers->drop(call.captures[0]); !dropped) {
    return pass_on(dropped);
  }
  return empty_response(204);
}

Result<Response> compact_collection(Services& services, const Call& call) {
  if (auto compacted = services.answers->compact(call.captures[0], call.stop); !compacted) {
    return pass_on(compacted);
  }
  return reply_with(services, call, 200);
}

Result<Response> cancel_operation(Services& services, const Call& call) {
  const auto collection = services.database->find(call.captures[0]);
  if (!collection) {
    return tl::unexpected<Error>(collection.error());
  }
  if (!(*collection)->cancel_operation()) {
    return fail(Code::NotFound, "no long operation of collection '{}' is running",
                call.captures[0]);
  }
  return empty_response(202);
}

Result<Response> rollback_collection(Services& services, const Call& call) {
  const auto wait = call.flag("wait", false);
  if (!wait) {
    return tl::unexpected<Error>(wait.error());
  }
  if (auto rolled = services.answers->rollback(call.captures[0], *wait); !rolled) {
    return pass_on(rolled);
  }
  return reply_with(services, call, 200);
}

}  // namespace sibyl::server
