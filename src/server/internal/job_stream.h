#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "job/runner.h"
#include "server/http.h"

namespace sibyl::server {

/// The runner, asked anew for each wait so that a draining server can let go of it.
using JobRunnerSource = std::function<Result<std::shared_ptr<job::JobRunner>>()>;

/// Writes a job's events as server-sent events (WHATWG HTML 9.2): those from byte `offset` of its
/// event file on, then new ones as they come, a comment when there was nothing for 15 seconds, and
/// `event: end` with the job once it has ended. Returns when the job has ended, the client is gone
/// or `stop` is requested.
void stream_job_events(const JobRunnerSource& runner, const std::string& id, uint64_t offset,
                       const StreamSink& sink, std::stop_token stop);

/// The offset in a Last-Event-ID; 0, the start, for anything else.
uint64_t event_offset_of(std::string_view last_event_id);

/// A job as GET /v1/jobs/{id} shows it.
std::string job_to_json(const job::JobInfo& info);

}  // namespace sibyl::server
