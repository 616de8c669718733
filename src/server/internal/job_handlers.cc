#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "server/internal/handlers.h"
#include "server/internal/job_files.h"
#include "server/internal/job_stream.h"
#include "server/internal/replies.h"

namespace sibyl::server {
namespace {

void write_job(base::JsonWriter& json, const job::JobInfo& info) {
  const auto text_or_null = [&json](const char* name, const std::string& value) {
    json.key(name);
    value.empty() ? json.null() : json.text(value);
  };
  json.begin_object().key("id").text(info.id).key("name").text(info.name);
  json.key("kind").text(info.kind).key("state").text(job::state_name(info.state));
  text_or_null("step", info.step);
  text_or_null("error", info.error);
  text_or_null("model", info.model);
  json.key("created").text(base::format_time(info.created_us));
  text_or_null("ended", info.ended_us == 0 ? std::string() : base::format_time(info.ended_us));
  json.end_object();
}

Result<Response> reply_with(job::JobRunner& jobs, const std::string& id, int status) {
  const auto info = jobs.find(id);
  if (!info) {
    return tl::unexpected<Error>(info.error());
  }
  return json_response(status, job_to_json(*info));
}

/// Runs `act` on the runner, then shows the job.
template <class Act>
Result<Response> change_job(Services& services, const Call& call, const Act& act) {
  const auto jobs = services.jobs();
  if (!jobs) {
    return tl::unexpected<Error>(jobs.error());
  }
  if (auto done = act(**jobs, call.captures[0]); !done) {
    return pass_on(done);
  }
  return reply_with(**jobs, call.captures[0], 202);
}

}  // namespace

std::string job_to_json(const job::JobInfo& info) {
  std::string out;
  base::JsonWriter json(out);
  write_job(json, info);
  return out;
}

Result<Response> submit_job(Services& services, const Call& call) {
  auto json = base::parse_json(call.request.body, "the job");
  if (!json) {
    return pass_on(json);
  }
  if (auto resolved = resolve_job_files(*json, *services.uploads, call.local()); !resolved) {
    return pass_on(resolved);
  }
  const auto jobs = services.jobs();
  if (!jobs) {
    return tl::unexpected<Error>(jobs.error());
  }
  const auto id = (*jobs)->submit(*json);
  if (!id) {
    return tl::unexpected<Error>(id.error());
  }
  return reply_with(**jobs, *id, 202);
}

Result<Response> list_jobs(Services& services, const Call&) {
  const auto jobs = services.jobs();
  if (!jobs) {
    return tl::unexpected<Error>(jobs.error());
  }
  std::string body;
  base::JsonWriter json(body);
  json.begin_object().key("jobs").begin_array();
  for (const job::JobInfo& info : (*jobs)->list()) {
    write_job(json, info);
  }
  json.end_array().end_object();
  return json_response(200, std::move(body));
}

Result<Response> get_job(Services& services, const Call& call) {
  const auto jobs = services.jobs();
  if (!jobs) {
    return tl::unexpected<Error>(jobs.error());
  }
  return reply_with(**jobs, call.captures[0], 200);
}

Result<Response> cancel_job(Services& services, const Call& call) {
  return change_job(services, call,
                    [](job::JobRunner& jobs, const std::string& id) { return jobs.cancel(id); });
}

Result<Response> resume_job(Services& services, const Call& call) {
  return change_job(services, call,
                    [](job::JobRunner& jobs, const std::string& id) { return jobs.resume(id); });
}

Result<Response> job_log(Services& services, const Call& call) {
  const auto jobs = services.jobs();
  if (!jobs) {
    return tl::unexpected<Error>(jobs.error());
  }
  auto log = (*jobs)->log(call.captures[0]);
  if (!log) {
    return pass_on(log);
  }
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(*log);
  return response;
}

Result<Response> job_events(Services& services, const Call& call) {
  const auto jobs = services.jobs();
  if (!jobs) {
    return tl::unexpected<Error>(jobs.error());
  }
  const std::string& id = call.captures[0];
  if (const auto found = (*jobs)->find(id); !found) {
    return tl::unexpected<Error>(found.error());
  }
  const auto given = call.request.headers.find("last-event-id");
  const uint64_t offset = given == call.request.headers.end() ? 0 : event_offset_of(given->second);
  Response response;
  response.content_type = "text/event-stream";
  response.headers["Cache-Control"] = "no-store";
  response.stream = [&services, id, offset](const StreamSink& sink, std::stop_token stop) {
    stream_job_events([&services] { return services.jobs(); }, id, offset, sink, stop);
  };
  return response;
}

}  // namespace sibyl::server
