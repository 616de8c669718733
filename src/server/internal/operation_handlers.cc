#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/metrics.h"
#include "server/internal/collection_json.h"
#include "server/internal/handlers.h"
#include "server/internal/openapi.h"

namespace sibyl::server {
namespace {

std::string_view role_name(Role role) {
  switch (role) {
    case Role::All:
      return "all";
    case Role::Answers:
      return "answers";
    case Role::Models:
      return "models";
    case Role::Vectors:
      return "vectors";
  }
  return "all";
}

/// Reads every file of every collection and names the damaged ones.
void write_damage(base::JsonWriter& json, const store::Database& database) {
  json.key("damage").begin_array();
  for (const std::string& name : database.names()) {
    const auto collection = database.find(name);
    if (!collection) {
      continue;  // dropped at this moment
    }
    if (const auto verified = (*collection)->verify(); !verified) {
      json.begin_object().key("collection").text(name);
      json.key("error").text(verified.error().message).end_object();
    }
  }
  json.end_array();
}

size_t running_jobs(Services& services) {
  const auto jobs = services.jobs();
  if (!jobs) {
    return 0;
  }
  return static_cast<size_t>(std::ranges::count_if((*jobs)->list(), [](const job::JobInfo& info) {
    return info.state == job::JobState::Running;
  }));
}

}  // namespace

Result<Response> health_live(Services&, const Call&) {
  return json_response(200, R"({"status":"live"})");
}

Result<Response> health_ready(Services& services, const Call&) {
  if (services.draining) {
    return fail(Code::Unavailable, "the server is shutting down");
  }
  return json_response(200, R"({"status":"ready"})");
}

Result<Response> show_metrics(Services& services, const Call&) {
  const bool owns = services.served == nullptr;
  base::metrics()
      .gauge("sibyl_encoders_open", "Models whose weights are in memory")
      .set(static_cast<double>(owns ? services.encoders->open_encoders()
                                    : services.served->models().size()));
  if (owns) {
    base::metrics()
        .gauge("sibyl_jobs_running", "Jobs that run at this moment")
        .set(static_cast<double>(running_jobs(services)));
  }
  Response response = json_response(200, base::metrics().expose());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

Result<Response> show_status(Services& services, const Call& call) {
  const auto verify = call.flag("verify", false);
  if (!verify) {
    return tl::unexpected<Error>(verify.error());
  }
  if (*verify && !call.local()) {
    return fail_field(Code::PermissionDenied, "verify",
                      "reading every file is for commands on the server's own machine");
  }
  std::string body;
  base::JsonWriter json(body);
  const int64_t up_us = base::system_clock().steady_us() - services.started_us;
  json.begin_object().key("version").text(version());
  json.key("directory_id").text(services.directory_id);
  if (call.local()) {
    json.key("directory").text(services.directory);
  }
  json.key("role").text(role_name(services.options.role));
  json.key("uptime_s").integer(up_us / 1'000'000);
  json.key("draining").boolean(services.draining);
  json.key("default_model");
  const auto name = services.registry->default_name();
  name ? json.text(*name) : json.null();
  json.key("models").integer(static_cast<int64_t>(services.registry->list().size()));
  json.key("encoders_open").integer(static_cast<int64_t>(services.encoders->open_encoders()));
  json.key("jobs_running").integer(static_cast<int64_t>(running_jobs(services)));
  json.key("collections").begin_array();
  for (const std::string& collection : services.answers->collections()) {
    if (const auto info = services.answers->info(collection)) {
      write_collection(json, *info, call.local());
    }
  }
  json.end_array();
  if (*verify) {
    write_damage(json, *services.database);
  }
  json.end_object();
  return json_response(200, std::move(body));
}

Result<Response> show_openapi(Services&, const Call&) {
  return json_response(200, openapi_document());
}

}  // namespace sibyl::server
