#include "cli/internal/job_follower.h"

#include <algorithm>
#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "net/http_client.h"

namespace sibyl::cli {
namespace {

using base::Json;

std::string job_path(const std::string& id) {
  return "/v1/jobs/" + net::encode_uri_part(id);
}

}  // namespace

JobFollower::JobFollower(Owner& owner, const Terminal& terminal, std::string id)
    : owner_(owner), terminal_(terminal), id_(std::move(id)), bar_(terminal, "", "") {}

Result<int> JobFollower::follow() {
  const std::stop_token stop = base::process_stop_token();
  auto streamed = owner_.stream(
      job_path(id_) + "/events",
      [this](std::string_view bytes) {
        take(bytes);
        return !ended_;
      },
      stop);
  bar_.finish();
  if (stop.stop_requested()) {
    return fail(Code::Interrupted, "{}",
                owner_.in_process()
                    ? fmt::format("stopping job {0}; its state is saved, `sibyl jobs resume {0}` "
                                  "goes on",
                                  id_)
                    : fmt::format("job {0} goes on in the server; `sibyl jobs show {0}` tells how "
                                  "far it is",
                                  id_));
  }
  if (!streamed) {
    return pass_on(streamed);
  }
  auto job = owner_.call("GET", job_path(id_));
  if (!job) {
    return pass_on(job);
  }
  const std::string state = base::shown_at(*job, "state");
  if (state == "done") {
    return 0;
  }
  const std::string error = base::shown_at(*job, "error");
  terminal_.warn(fmt::format("job {} {}{}{}", id_, state == "failed" ? "failed in" : "was",
                             state == "failed" ? " " + base::shown_at(*job, "step") : " " + state,
                             error.empty() ? "" : ": " + error));
  if (state == "failed") {
    terminal_.note(fmt::format("`sibyl jobs logs {}` shows what its steps printed", id_));
    return step_status_ == 0 ? exit_status(Code::Internal) : step_status_;
  }
  return exit_status(Code::Interrupted);
}

void JobFollower::take(std::string_view bytes) {
  for (const char c : bytes) {
    if (c != '\n') {
      rest_.push_back(c);
      continue;
    }
    if (rest_.ends_with('\r')) {
      rest_.pop_back();
    }
    take_line(rest_);
    rest_.clear();
  }
}

void JobFollower::take_line(const std::string& line) {
  if (line.starts_with("event:")) {
    end_comes_ = line.find("end") != std::string::npos;
    return;
  }
  if (!line.starts_with("data:")) {
    return;  // ids, comments, the blank line between events
  }
  if (end_comes_) {
    ended_ = true;
    return;
  }
  const size_t start = line.find_first_not_of(' ', 5);
  if (start == std::string::npos) {
    return;
  }
  const auto event = base::parse_json(std::string_view(line).substr(start), "event");
  if (event && event->is_object()) {
    if (base::shown_at(*event, "event") == "end") {
      step_status_ = static_cast<int>(base::number_at(*event, "status", 0));
    }
    if (terminal_.json()) {
      terminal_.print_json(*event);
    } else {
      show(*event);
    }
  }
}

void JobFollower::show(const Json& event) {
  const std::string kind = base::shown_at(event, "event");
  if (kind == "progress") {
    show_progress(event);
    return;
  }
  bar_.finish();
  bar_stage_.clear();
  if (kind == "start") {
    terminal_.note(fmt::format("== {}", base::shown_at(event, "step")));
  } else if (kind == "device" || kind == "note") {
    terminal_.note("   " + base::shown_at(event, "text"));
  } else if (kind == "plan") {
    show_plan(event);
  } else if (kind == "metric") {
    const std::string epoch = base::shown_at(event, "epoch");
    terminal_.note(fmt::format(
        "   {}{}: {:.4f}{}", base::shown_at(event, "name"),
        epoch.empty() ? "" : " after epoch " + epoch, base::number_at(event, "value", 0),
        base::shown_at(event, "best").empty()
            ? ""
            : fmt::format(" (best {:.4f})", base::number_at(event, "best", 0))));
  }
}

void JobFollower::show_progress(const Json& event) {
  const std::string stage = base::shown_at(event, "stage");
  if (stage != bar_stage_) {
    bar_.relabel("   " + stage, base::shown_at(event, "unit"));
    bar_stage_ = stage;
  }
  std::string extra;
  if (event.contains("loss")) {
    extra = fmt::format("loss {:.4f}", base::number_at(event, "loss", 0));
  }
  if (event.contains("epoch")) {
    extra += fmt::format("{}epoch {}", extra.empty() ? "" : "  ", base::shown_at(event, "epoch"));
  }
  bar_.update(static_cast<uint64_t>(std::max(0.0, base::number_at(event, "done", 0))),
              static_cast<uint64_t>(std::max(0.0, base::number_at(event, "total", 0))),
              base::number_at(event, "rate", -1), base::number_at(event, "left_s", -1), extra);
}

void JobFollower::show_plan(const Json& event) {
  const auto parameters = event.find("parameters");
  if (parameters == event.end() || !parameters->is_array()) {
    return;
  }
  for (const Json& parameter : *parameters) {
    terminal_.note(fmt::format("   {:<22} {:<12} {}", base::shown_at(parameter, "name"),
                               base::shown_at(parameter, "value"),
                               base::shown_at(parameter, "reason")));
  }
}

Result<int> follow_job(Owner& owner, const Terminal& terminal, const std::string& data_directory,
                       const std::string& id) {
  auto status = JobFollower(owner, terminal, id).follow();
  if (!status) {
    return pass_on(status);
  }
  auto job = owner.call("GET", job_path(id));
  if (!job) {
    return pass_on(job);
  }
  if (terminal.json()) {
    terminal.print_json({{"job", *job}});
    return status;
  }
  const auto table = base::read_file(
      base::join_path(data_directory, fmt::format("jobs/{}/workspace/report/table.txt", id)));
  if (*status == 0 && table) {
    terminal.print(*table);
  }
  const std::string model = base::shown_at(*job, "model");
  if (*status == 0 && !model.empty()) {
    terminal.print("published as " + model);
  }
  return status;
}

}  // namespace sibyl::cli
