#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "cli/internal/cluster_release.h"
#include "cli/internal/commands.h"

namespace sibyl::cli {
namespace {

using base::Json;

constexpr const char* kArgoRun = "workflows.argoproj.io/workflow";

struct Run {
  std::string name;
  std::string kind;
  std::string state;
  std::string step;  ///< the last that was begun
  std::string created;
  std::string message;
};

std::string selector_of(const std::string& release, const char* component) {
  return fmt::format("--selector=app.kubernetes.io/instance={},app.kubernetes.io/component={}",
                     release, component);
}

Run run_of_workflow(const Json& workflow) {
  const Json& metadata = base::value_at(workflow, "metadata");
  const Json& status = base::value_at(workflow, "status");
  Run run{base::text_at(metadata, "name"),
          {},
          base::text_at(status, "phase"),
          {},
          base::text_at(metadata, "creationTimestamp"),
          base::text_at(status, "message")};
  std::string last;
  for (const Json& node : base::value_at(status, "nodes")) {
    const std::string began = base::text_at(node, "startedAt");
    if (base::text_at(node, "type") == "Pod" && began >= last) {
      last = began;
      run.step = base::text_at(node, "templateName");
      if (run.message.empty() && base::text_at(node, "phase") != "Succeeded") {
        run.message = base::text_at(node, "message");
      }
    }
  }
  if (run.state.empty()) {
    run.state = "Pending";
  }
  return run;
}

std::string variable_of(const Json& job, const std::string& name) {
  const Json& spec =
      base::value_at(base::value_at(base::value_at(job, "spec"), "template"), "spec");
  for (const Json& container : base::value_at(spec, "containers")) {
    for (const Json& entry : base::value_at(container, "env")) {
      if (base::text_at(entry, "name") == name) {
        return base::text_at(entry, "value");
      }
    }
  }
  return {};
}

// A run of plain Jobs is the Jobs that carry its name; the youngest says how it stands.
void add_job(std::map<std::string, Run>& runs, const Json& job) {
  const Json& metadata = base::value_at(job, "metadata");
  const std::string name = variable_of(job, "SIBYL_RUN");
  const std::string created = base::text_at(metadata, "creationTimestamp");
  if (name.empty()) {
    return;
  }
  Run& run = runs[name];
  if (!run.name.empty() && created < run.created) {
    return;
  }
  run.name = name;
  run.created = created;
  run.kind = base::text_at(base::value_at(metadata, "labels"), "sibyl.dev/kind");
  run.step = base::text_at(base::value_at(metadata, "labels"), "sibyl.dev/step");
  run.state = "Running";
  run.message.clear();
  for (const Json& condition : base::value_at(base::value_at(job, "status"), "conditions")) {
    const std::string type = base::text_at(condition, "type");
    if (base::text_at(condition, "status") == "True" && (type == "Complete" || type == "Failed")) {
      run.state = type == "Complete" ? "Succeeded" : type;
      run.message = base::text_at(condition, "message");
    }
  }
}

// Of a run of the release, whoever started it: by its template where this program or argo did, by
// its labels where a schedule did, which has the steps in itself. Nothing where it is somebody
// else's.
std::string kind_of(const Json& workflow, const ClusterRelease& release) {
  const Json& from = base::value_at(base::value_at(workflow, "spec"), "workflowTemplateRef");
  for (const auto& [kind, known] : release.templates.items()) {
    if (base::text_at(base::value_at(known, "metadata"), "name") == base::text_at(from, "name")) {
      return kind;
    }
  }
  const Json& labels = base::value_at(base::value_at(workflow, "metadata"), "labels");
  const bool ours = from.is_null() &&
                    base::text_at(labels, "app.kubernetes.io/instance") == release.name &&
                    base::text_at(labels, "app.kubernetes.io/component") == "run";
  return ours ? base::text_at(labels, "sibyl.dev/kind") : "";
}

Result<void> add_workflows(std::map<std::string, Run>& runs, const Kubectl& kubectl,
                           const ClusterRelease& release) {
  const auto workflows = kubectl.read({"get", "workflows.argoproj.io"});
  if (!workflows) {
    return tl::unexpected<Error>(workflows.error());
  }
  for (const Json& workflow : base::value_at(*workflows, "items")) {
    if (const std::string kind = kind_of(workflow, release); !kind.empty()) {
      Run run = run_of_workflow(workflow);
      run.kind = kind;
      runs[run.name] = std::move(run);
    }
  }
  return {};
}

Result<std::vector<Run>> find_runs(const Kubectl& kubectl, const std::string& name) {
  std::map<std::string, Run> runs;
  const auto release = find_release(kubectl, name);
  if (!release) {
    return tl::unexpected<Error>(release.error());
  }
  if (release->argo) {
    if (auto added = add_workflows(runs, kubectl, *release); !added) {
      return pass_on(added);
    }
  }
  const auto jobs = kubectl.read({"get", "jobs.batch", selector_of(name, "step")});
  if (!jobs) {
    return tl::unexpected<Error>(jobs.error());
  }
  for (const Json& job : base::value_at(*jobs, "items")) {
    add_job(runs, job);
  }
  std::vector<Run> sorted;
  for (auto& [run_name, run] : runs) {
    sorted.push_back(std::move(run));
  }
  std::ranges::sort(sorted, std::greater(), &Run::created);
  return sorted;
}

// Why a pod of the run waits, where it does: a training without a GPU node is the usual case.
std::string waiting_of(const Json& pod) {
  for (const Json& condition : base::value_at(base::value_at(pod, "status"), "conditions")) {
    if (base::text_at(condition, "type") == "PodScheduled" &&
        base::text_at(condition, "status") == "False") {
      return base::text_at(condition, "message");
    }
  }
  return {};
}

Result<Json> pods_of(const Kubectl& kubectl, const std::string& release, const std::string& run) {
  auto pods = kubectl.read({"get", "pods", selector_of(release, "step")});
  if (!pods) {
    return pass_on(pods);
  }
  Json ours = Json::array();
  for (const Json& pod : base::value_at(*pods, "items")) {
    const Json& labels = base::value_at(base::value_at(pod, "metadata"), "labels");
    const std::string job = base::text_at(labels, "batch.kubernetes.io/job-name");
    const std::string step = base::text_at(labels, "sibyl.dev/step");
    if (base::text_at(labels, kArgoRun) == run || (!job.empty() && job == run + "-" + step)) {
      ours.push_back(pod);
    }
  }
  return ours;
}

Json json_of(const Run& run) {
  return {{"run", run.name},  {"kind", run.kind},       {"state", run.state},
          {"step", run.step}, {"created", run.created}, {"message", run.message}};
}

Result<void> show_pods(const Kubectl& kubectl, const Terminal& terminal, const std::string& release,
                       const Run& run) {
  const auto pods = pods_of(kubectl, release, run.name);
  if (!pods) {
    return tl::unexpected<Error>(pods.error());
  }
  Json out = json_of(run);
  out["pods"] = Json::array();
  std::vector<std::vector<std::string>> rows = {{"POD", "STEP", "PHASE", "NODE", ""}};
  for (const Json& pod : *pods) {
    const Json& metadata = base::value_at(pod, "metadata");
    const std::string step = base::text_at(base::value_at(metadata, "labels"), "sibyl.dev/step");
    const std::string phase = base::text_at(base::value_at(pod, "status"), "phase");
    const std::string node = base::text_at(base::value_at(pod, "spec"), "nodeName");
    const std::string waits = waiting_of(pod);
    rows.push_back({base::text_at(metadata, "name"), step, phase, node, waits});
    out["pods"].push_back({{"pod", base::text_at(metadata, "name")},
                           {"step", step},
                           {"phase", phase},
                           {"node", node},
                           {"waits_for", waits}});
  }
  if (terminal.json()) {
    terminal.print_json(out);
    return {};
  }
  terminal.print(fmt::format("run {} ({}): {}{}{}", run.name, run.kind, run.state,
                             run.step.empty() ? "" : ", step " + run.step,
                             run.message.empty() ? "" : ": " + run.message));
  if (rows.size() > 1) {
    terminal.print(terminal.table(rows));
  }
  return {};
}

}  // namespace

Result<int> show_cluster_status(const Arguments& arguments, const Terminal& terminal) {
  const auto kubectl = kubectl_of(arguments);
  if (!kubectl) {
    return tl::unexpected<Error>(kubectl.error());
  }
  const auto runs = find_runs(*kubectl, arguments.release);
  if (!runs) {
    return tl::unexpected<Error>(runs.error());
  }
  if (!arguments.run.empty()) {
    const auto run = std::ranges::find(*runs, arguments.run, &Run::name);
    if (run == runs->end()) {
      return fail(Code::NotFound,
                  "release {} has no run '{}' any more; `sibyl cluster status` lists "
                  "those there are",
                  arguments.release, arguments.run);
    }
    auto shown = show_pods(*kubectl, terminal, arguments.release, *run);
    return shown ? Result<int>(0) : pass_on(shown);
  }
  Json out = Json::array();
  std::vector<std::vector<std::string>> rows = {{"RUN", "KIND", "STATE", "STEP", "CREATED", ""}};
  for (const Run& run : *runs) {
    out.push_back(json_of(run));
    rows.push_back({run.name, run.kind, run.state, run.step, run.created, run.message});
  }
  if (terminal.json()) {
    terminal.print_json({{"runs", std::move(out)}});
  } else if (rows.size() == 1) {
    terminal.note("no run is there; `sibyl cluster submit JOB.yaml` starts one");
  } else {
    terminal.print(terminal.table(rows));
  }
  return 0;
}

Result<int> show_cluster_logs(const Arguments& arguments, const Terminal& terminal) {
  const auto kubectl = kubectl_of(arguments);
  if (!kubectl) {
    return tl::unexpected<Error>(kubectl.error());
  }
  if (auto right = check_label("RUN", arguments.run); !right) {
    return pass_on(right);
  }
  const auto pods = pods_of(*kubectl, arguments.release, arguments.run);
  if (!pods) {
    return tl::unexpected<Error>(pods.error());
  }
  bool any = false;
  for (const Json& pod : *pods) {
    const Json& metadata = base::value_at(pod, "metadata");
    const std::string step = base::text_at(base::value_at(metadata, "labels"), "sibyl.dev/step");
    if (!arguments.step.empty() && step != arguments.step) {
      continue;
    }
    any = true;
    const std::string name = base::text_at(metadata, "name");
    terminal.note(fmt::format("{} ({})", name, step));
    std::vector<std::string> words = {"logs", name, "--container=main"};
    const bool runs = base::text_at(base::value_at(pod, "status"), "phase") == "Running";
    if (!(arguments.follow && runs)) {
      auto log = kubectl->run(words);
      if (!log) {
        return pass_on(log);
      }
      terminal.print(*log);
      continue;
    }
    words.emplace_back("--follow");
    base::ChildOptions options;
    options.arguments = kubectl->command(words);
    auto child = base::ChildProcess::start(options, {});
    if (!child) {
      return pass_on(child);
    }
    while (!(*child)->wait_exit_status(200)) {
      if (base::process_stop_token().stop_requested()) {
        return fail(Code::Interrupted, "stopped following {}; the run goes on", name);
      }
    }
  }
  if (!any) {
    return fail(Code::NotFound,
                "run {} has no pod{} any more: finished ones are removed; its events and reports "
                "lie in the workspace",
                arguments.run, arguments.step.empty() ? "" : " of step " + arguments.step);
  }
  return 0;
}

}  // namespace sibyl::cli
