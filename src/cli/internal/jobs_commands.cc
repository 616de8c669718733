#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "cli/internal/commands.h"
#include "cli/internal/job_follower.h"
#include "cli/internal/owner.h"
#include "net/http_client.h"

namespace sibyl::cli {
namespace {

using base::Json;

std::string job_path(const Arguments& arguments) {
  return "/v1/jobs/" + net::encode_uri_part(arguments.id);
}

}  // namespace

Result<int> list_jobs(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply = (*owner)->call("GET", "/v1/jobs");
  if (!reply) {
    return pass_on(reply);
  }
  if (terminal.json()) {
    terminal.print_json(*reply);
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {
      {"ID", "KIND", "STATE", "STEP", "MODEL", "CREATED"}};
  for (const Json& job : base::value_at(*reply, "jobs")) {
    rows.push_back({base::text_at(job, "id"), base::text_at(job, "kind"),
                    base::text_at(job, "state"), base::text_at(job, "step"),
                    base::text_at(job, "model"), base::text_at(job, "created")});
  }
  if (rows.size() == 1) {
    terminal.note("no job is there; `sibyl train` starts one");
  } else {
    terminal.print(terminal.table(rows));
  }
  return 0;
}

Result<int> show_job(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto job = (*owner)->call("GET", job_path(arguments));
  if (!job) {
    return pass_on(job);
  }
  terminal.print(base::dump_json(*job, terminal.json() ? -1 : 2));
  return 0;
}

Result<int> show_job_log(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply = (*owner)->send("GET", job_path(arguments) + "/log", {});
  if (!reply) {
    return pass_on(reply);
  }
  if (reply->status >= 400) {
    auto job = (*owner)->call("GET", job_path(arguments));
    return job ? Result<int>(fail(Code::Internal, "the log cannot be read")) : pass_on(job);
  }
  if (terminal.json()) {
    terminal.print_json({{"log", reply->body}});
  } else {
    terminal.print(reply->body);
  }
  return 0;
}

Result<int> cancel_job(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto job = (*owner)->call("DELETE", job_path(arguments));
  if (!job) {
    return pass_on(job);
  }
  if (terminal.json()) {
    terminal.print_json(*job);
  } else {
    terminal.note("stopping " + arguments.id);
  }
  return 0;
}

Result<int> resume_job(const Arguments& arguments, const Terminal& terminal) {
  auto owner = Owner::open(arguments.data, true);
  if (!owner) {
    return pass_on(owner);
  }
  auto job = (*owner)->call("POST", job_path(arguments) + "/resume");
  if (!job) {
    return pass_on(job);
  }
  return follow_job(**owner, terminal, arguments.data, arguments.id);
}

}  // namespace sibyl::cli
