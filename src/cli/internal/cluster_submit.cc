#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "cli/internal/cluster_release.h"
#include "cli/internal/commands.h"
#include "cli/internal/job_arguments.h"
#include "cli/internal/job_upload.h"

namespace sibyl::cli {
namespace {

using base::Json;

constexpr size_t kRunLengthMax = 45;        // what Jobs and pods are called begins with it
constexpr size_t kJobBytesMax = 100 << 10;  // the kernel takes no longer variable than 128 KiB
constexpr double kPollSeconds = 2;

/// "helpdesk-20261130-150405".
std::string new_run(const std::string& name) {
  std::string run;
  for (const char c : name) {
    run += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
  }
  run = run.substr(0, kRunLengthMax - 16);
  run.erase(run.find_last_not_of('-') + 1);
  std::string time = base::format_time(base::system_clock().now_us()).substr(0, 19);
  std::erase(time, '-');
  std::erase(time, ':');
  time[8] = '-';
  return (run.empty() ? std::string("run") : run) + "-" + time;
}

// As it goes into a variable of a pod: `$(` and `{{` would be taken for references, by Kubernetes
// and by Argo. Both stand in texts only, where JSON can write a character by its number.
Result<std::string> job_text(const job::JobFile& job) {
  const std::string plain = base::dump_json(job::job_to_json(job));
  std::string text;
  for (size_t i = 0; i < plain.size(); ++i) {
    const std::string_view two = std::string_view(plain).substr(i, 2);
    if (two == "$(") {
      text += "\\u0024";
    } else if (two == "{{") {
      text += "\\u007b\\u007b";
      ++i;
    } else {
      text += plain[i];
    }
  }
  if (text.size() > kJobBytesMax) {
    return fail(Code::TooLarge, "the job file has {} bytes as JSON; {} are allowed", text.size(),
                kJobBytesMax);
  }
  return text;
}

Json workflow_of(const ClusterRelease& release, const std::string& kind, const std::string& run,
                 const std::string& job) {
  const Json& metadata = base::value_at(base::value_at(release.templates, kind), "metadata");
  Json labels = {{"app.kubernetes.io/instance", release.name},
                 {"app.kubernetes.io/component", "run"},
                 {"sibyl.dev/kind", kind}};
  // A controller with an instance id sees only what carries it.
  constexpr const char* kInstance = "workflows.argoproj.io/controller-instanceid";
  if (const std::string id = base::text_at(base::value_at(metadata, "labels"), kInstance);
      !id.empty()) {
    labels[kInstance] = id;
  }
  return {{"apiVersion", "argoproj.io/v1alpha1"},
          {"kind", "Workflow"},
          {"metadata", {{"name", run}, {"labels", std::move(labels)}}},
          {"spec",
           {{"workflowTemplateRef", {{"name", base::text_at(metadata, "name")}}},
            {"arguments", {{"parameters", Json::array({{{"name", "job"}, {"value", job}}})}}}}}};
}

Result<Json> job_of(const ClusterRelease& release, const std::string& kind, const std::string& step,
                    const std::string& run, const std::string& job) {
  const std::string key = kind + "." + step + ".json";
  auto manifest = base::parse_json(base::text_at(release.jobs, key), key);
  if (!manifest) {
    return pass_on(manifest);
  }
  try {
    (*manifest)["metadata"]["name"] = run + "-" + step;
    for (Json& entry : (*manifest)["spec"]["template"]["spec"]["containers"][0]["env"]) {
      const std::string name = base::text_at(entry, "name");
      if (name == "SIBYL_RUN") {
        entry["value"] = run;
      } else if (name == "SIBYL_JOB") {
        entry["value"] = job;
      }
    }
  } catch (const Json::exception&) {
    return fail(Code::InvalidData, "{} in the release's ConfigMap is no Job", key);
  }
  return manifest;
}

/// What has become of a Job: "Complete", "Failed" or "" while it runs, and why.
struct JobEnd {
  std::string state;
  std::string why;
};
JobEnd end_of(const Json& job) {
  for (const Json& condition : base::value_at(base::value_at(job, "status"), "conditions")) {
    const std::string type = base::text_at(condition, "type");
    if (base::text_at(condition, "status") == "True" && (type == "Complete" || type == "Failed")) {
      return {type, fmt::format("{} {}", base::text_at(condition, "reason"),
                                base::text_at(condition, "message"))};
    }
  }
  return {};
}

class Submission {
 public:
  Submission(const Kubectl& kubectl, const Terminal& terminal, const ClusterRelease& release,
             std::string kind, std::string run, std::string job)
      : kubectl_(kubectl),
        terminal_(terminal),
        release_(release),
        kind_(std::move(kind)),
        run_(std::move(run)),
        job_(std::move(job)) {}

  Result<void> print(const std::vector<UploadFile>& files) const {
    Json objects = Json::array();
    if (release_.argo) {
      objects.push_back(workflow_of(release_, kind_, run_, job_));
    } else {
      for (const std::string& step : release_.steps(kind_)) {
        auto job = job_of(release_, kind_, step, run_, job_);
        if (!job) {
          return pass_on(job);
        }
        objects.push_back(std::move(*job));
      }
    }
    Json uploads = Json::array();
    for (const UploadFile& file : files) {
      uploads.push_back({{"file", file.path}, {"workspace", file.target}});
    }
    const auto workspace = release_.workspace(kind_, run_);
    const Json out = {{"run", run_},
                      {"workspace", workspace ? *workspace : ""},
                      {"uploads", std::move(uploads)},
                      {"objects", std::move(objects)}};
    terminal_.print(base::dump_json(out, terminal_.json() ? -1 : 2));
    return {};
  }

  // One Workflow; one that has failed is made again and goes on in its workspace.
  Result<std::string> start_workflow() const {
    const auto there = kubectl_.read({"get", "workflows.argoproj.io", run_});
    if (!there && there.error().code != Code::NotFound) {
      return tl::unexpected<Error>(there.error());
    }
    if (there) {
      const std::string phase = base::text_at(base::value_at(*there, "status"), "phase");
      if (phase != "Failed" && phase != "Error") {
        return phase == "Succeeded" ? "done already" : "running already";
      }
      // With its pods: those of the next workflow of this name are called the same.
      auto gone = kubectl_.run({"delete", "workflows.argoproj.io", run_, "--cascade=foreground"},
                               {}, 300'000);
      if (!gone) {
        return pass_on(gone);
      }
    }
    auto made = kubectl_.run({"create", "--filename=-"},
                             base::dump_json(workflow_of(release_, kind_, run_, job_)));
    return made ? Result<std::string>(there ? "started again" : "started") : pass_on(made);
  }

  // One Job after another: one that waits for its turn is not there, so it holds no node.
  Result<void> run_jobs() const {
    for (const std::string& step : release_.steps(kind_)) {
      if (auto done = run_job(step); !done) {
        return done;
      }
    }
    return {};
  }

 private:
  Result<void> run_job(const std::string& step) const {
    const std::string name = run_ + "-" + step;
    auto state = kubectl_.read({"get", "jobs.batch", name});
    if (!state && state.error().code != Code::NotFound) {
      return pass_on(state);
    }
    if (state && end_of(*state).state == "Failed") {
      auto gone = kubectl_.run({"delete", "jobs.batch", name, "--cascade=foreground"}, {}, 300'000);
      if (!gone) {
        return pass_on(gone);
      }
      state = fail(Code::NotFound, "deleted");
    }
    if (!state) {
      auto manifest = job_of(release_, kind_, step, run_, job_);
      if (!manifest) {
        return pass_on(manifest);
      }
      auto made = kubectl_.run({"create", "--filename=-"}, base::dump_json(*manifest));
      if (!made) {
        return pass_on(made);
      }
    }
    terminal_.note(fmt::format("{}: {}", name, state ? "there already" : "created"));
    return wait(step, name);
  }

  Result<void> wait(const std::string& step, const std::string& name) const {
    int misses = 0;
    constexpr int kMissesMax = 30;  // a minute without an answer
    for (;;) {
      const auto state = kubectl_.read({"get", "jobs.batch", name});
      misses = state ? 0 : misses + 1;
      if (!state && (misses >= kMissesMax || state.error().code == Code::NotFound)) {
        return tl::unexpected<Error>(state.error());
      }
      const JobEnd end = state ? end_of(*state) : JobEnd();
      if (end.state == "Complete") {
        terminal_.note(fmt::format("{}: done", name));
        return {};
      }
      if (end.state == "Failed") {
        return fail(Code::FailedPrecondition,
                    "step {} of run {} failed: {}; `sibyl cluster logs {} --step {}` says what it "
                    "printed",
                    step, run_, end.why, run_, step);
      }
      if (base::sleep_until_stop(base::process_stop_token(), kPollSeconds)) {
        return fail(Code::Interrupted,
                    "stopped while step {} runs in the cluster; go on with `sibyl cluster submit "
                    "JOB --run {}`",
                    step, run_);
      }
    }
  }

  const Kubectl& kubectl_;
  const Terminal& terminal_;
  const ClusterRelease& release_;
  const std::string kind_;
  const std::string run_;
  const std::string job_;
};

Result<int> submit(const Arguments& arguments, const Terminal& terminal, job::JobFile job) {
  const auto kubectl = kubectl_of(arguments);
  if (!kubectl) {
    return tl::unexpected<Error>(kubectl.error());
  }
  const std::string run = arguments.run.empty() ? new_run(job.name) : arguments.run;
  if (auto right = check_label("--run", run, kRunLengthMax); !right) {
    return pass_on(right);
  }
  const auto files = take_inputs(job);
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  auto text = job_text(job);
  if (!text) {
    return pass_on(text);
  }
  const auto release = find_release(*kubectl, arguments.release);
  if (!release) {
    return tl::unexpected<Error>(release.error());
  }
  const std::string kind = chart_kind(std::string(job::kind_name(job.kind)));
  const auto kinds = release->kinds();
  if (std::ranges::find(kinds, kind) == kinds.end()) {
    return fail(Code::NotFound, "release {} runs jobs of the kinds {}; this one is {}",
                arguments.release, fmt::join(kinds, ", "), kind);
  }
  const Submission submission(*kubectl, terminal, *release, kind, run, std::move(*text));
  if (arguments.dry_run) {
    auto printed = submission.print(*files);
    return printed ? Result<int>(0) : pass_on(printed);
  }
  if (auto uploaded = upload_inputs(*kubectl, *release, kind, run, *files); !uploaded) {
    return pass_on(uploaded);
  }
  std::string state = "done";
  if (release->argo) {
    auto started = submission.start_workflow();
    if (!started) {
      return pass_on(started);
    }
    state = std::move(*started);
  } else {
    terminal.note(fmt::format("run {}", run));
    if (auto done = submission.run_jobs(); !done) {
      return pass_on(done);
    }
  }
  if (terminal.json()) {
    terminal.print_json({{"run", run}, {"kind", kind}, {"state", state}});
  } else {
    terminal.print(fmt::format("run {}: {}", run, state));
  }
  return 0;
}

}  // namespace

Result<int> submit_to_cluster(const Arguments& arguments, const Terminal& terminal) {
  auto job = job_from_arguments(arguments);
  return job ? submit(arguments, terminal, std::move(*job)) : pass_on(job);
}

}  // namespace sibyl::cli
