#include "job/internal/job_state.h"

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"

namespace sibyl::job::internal {
namespace {

constexpr uint64_t kStateBytesMax = uint64_t{1} << 20;

}  // namespace

Result<void> write_job_state(const std::string& folder, const JobInfo& info) {
  const base::Json json = {{"id", info.id},
                           {"name", info.name},
                           {"kind", info.kind},
                           {"state", std::string(state_name(info.state))},
                           {"step", info.step},
                           {"error", info.error},
                           {"model", info.model},
                           {"created_us", info.created_us},
                           {"ended_us", info.ended_us}};
  return base::replace_file(base::join_path(folder, "state.json"), base::dump_json(json, 2) + "\n");
}

Result<JobInfo> read_job_state(const std::string& folder) {
  const std::string path = base::join_path(folder, "state.json");
  const auto text = base::read_file(path, kStateBytesMax);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto json = base::parse_json(*text, path);
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  base::JsonFields fields(*json, {}, Code::DataLoss);
  JobInfo info;
  info.id = fields.required_text("id");
  info.name = fields.text("name");
  info.kind = fields.text("kind");
  const std::string state = fields.required_text("state");
  info.step = fields.text("step");
  info.error = fields.text("error");
  info.model = fields.text("model");
  info.created_us = fields.integer("created_us", 0, 0, INT64_MAX);
  info.ended_us = fields.integer("ended_us", 0, 0, INT64_MAX);
  if (auto done = fields.finish(); !done) {
    return pass_on(done, path);
  }
  for (const JobState candidate : {JobState::Queued, JobState::Running, JobState::Done,
                                   JobState::Failed, JobState::Cancelled, JobState::Interrupted}) {
    if (state == state_name(candidate)) {
      info.state = candidate;
      return info;
    }
  }
  return fail(Code::DataLoss, "{}: state is '{}', which is none", path, state);
}

std::string published_model(const std::string& folder) {
  const auto text =
      base::read_file(base::join_path(folder, "workspace/report/publish.json"), kStateBytesMax);
  if (!text) {
    return {};
  }
  const auto json = base::parse_json(*text);
  return json ? base::text_at(*json, "model") : std::string();
}

}  // namespace sibyl::job::internal
