#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "cli/internal/cluster_release.h"
#include "cli/internal/commands.h"
#include "cli/internal/node_checks.h"

namespace sibyl::cli {
namespace {

using base::Json;
using base::text_at;
using base::value_at;

constexpr int kMinorLowest = 29;         // of Kubernetes 1.x
constexpr uint64_t kCuda13Driver = 580;  // lowest driver of CUDA 13
constexpr uint64_t kCuda12Driver = 525;

enum class State { Ok, Note, Missing };

struct Finding {
  State state;
  std::string what;
  std::string text;
};

std::string word_of(State state) {
  return state == State::Ok ? "ok" : state == State::Note ? "note" : "missing";
}

/// Looks at one cluster and one release; every check adds what it found.
class Doctor {
 public:
  Doctor(const Kubectl& kubectl, std::string release)
      : kubectl_(kubectl), release_name_(std::move(release)) {}

  Result<void> look() {
    if (auto version = check_version(); !version) {
      return version;
    }
    check_kinds();
    check_release();
    check_state();
    check_quotas();
    check_claims();
    return {};
  }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  void add(State state, std::string what, std::string text) {
    findings_.push_back({state, std::move(what), std::move(text)});
  }

  Result<void> check_version() {
    const auto version = kubectl_.read({"version"});
    if (!version) {
      return tl::unexpected<Error>(version.error());
    }
    const Json& server = value_at(*version, "serverVersion");
    const auto minor = count_of(server, "minor");
    const std::string shown = text_at(server, "gitVersion");
    if (shown.empty()) {
      return fail(Code::Unavailable,
                  "kubectl reaches no API server; choose the cluster "
                  "(kubectl config use-context)");
    }
    add(minor >= kMinorLowest ? State::Ok : State::Missing, "kubernetes",
        fmt::format("{}{}", shown, minor >= kMinorLowest ? "" : ": 1.29 or newer is needed"));
    return {};
  }

  void check_kinds() {
    const auto names = kubectl_.run({"api-resources", "--output=name"});
    if (!names) {
      add(State::Note, "kinds", names.error().message);
      return;
    }
    std::istringstream lines(*names);
    for (std::string line; std::getline(lines, line);) {
      kinds_.insert(line);
    }
    for (const auto& [kind, what] :
         {std::pair("workflowtemplates.argoproj.io", "Argo Workflows (trainer.kind: argo)"),
          std::pair("seldondeployments.machinelearning.seldon.io",
                    "Seldon Core 1.17.1 (serving.kind: seldon)"),
          std::pair("inferenceservices.serving.kserve.io", "KServe (serving.kind: kserve)")}) {
      const bool there = kinds_.contains(kind);
      add(there ? State::Ok : State::Note, "kinds",
          fmt::format("{}: {}", what, there ? "installed" : "not installed"));
    }
  }

  void check_release() {
    auto release = find_release(kubectl_, release_name_);
    if (!release) {
      add(State::Missing, "release", release.error().message);
      return;
    }
    add(State::Ok, "release",
        fmt::format("{} trains {} with {}", release_name_, fmt::join(release->kinds(), ", "),
                    release->argo ? "Argo" : "plain Jobs"));
    release_ = std::move(*release);
    check_secret();
  }

  // The key that prepare and publish speak to the answer server with.
  void check_secret() {
    std::set<std::string> names;
    for (const std::string& kind : release_->kinds()) {
      for (const std::string& step : release_->steps(kind)) {
        const Json container = release_->container(kind, step);
        for (const Json& entry : value_at(container, "env")) {
          names.insert(text_at(value_at(value_at(entry, "valueFrom"), "secretKeyRef"), "name"));
        }
      }
    }
    names.erase("");
    for (const std::string& name : names) {
      const auto there = kubectl_.run({"get", "secret", name, "--output=name"});
      add(there                                  ? State::Ok
          : there.error().code == Code::NotFound ? State::Missing
                                                 : State::Note,
          "secrets",
          there ? name
          : there.error().code == Code::NotFound
              ? fmt::format("secret {} is not there; Helm's notes say how to make "
                            "it, and pods wait for it",
                            name)
              : there.error().message);
    }
  }

  void check_state() {
    auto list = kubectl_.read({"get", "nodes,pods,poddisruptionbudgets", "--all-namespaces"});
    if (!list) {
      add(State::Note, "nodes", list.error().message);
      return;
    }
    state_ = sort_state(*list);
    if (release_) {
      for (const std::string& kind : release_->kinds()) {
        const auto steps = release_->steps(kind);
        for (const std::string& step : steps) {
          check_place(kind, step);
        }
      }
    }
    bool any = false;
    for (const Json& node : state_.nodes) {
      if (count_of(value_at(value_at(node, "status"), "allocatable"), kGpuResource) > 0) {
        any = true;
        check_gpu_node(node);
      }
    }
    if (!any) {
      add(State::Ok, "gpu nodes", "none now: nothing of a GPU pool costs money");
    }
  }

  void check_place(const std::string& kind, const std::string& step) {
    const Json spec = release_->pod(kind, step);
    const Json container = release_->container(kind, step);
    const uint64_t gpus =
        count_of(value_at(value_at(container, "resources"), "limits"), kGpuResource);
    const std::string what = kind + " " + step;
    std::string refused;
    for (const Json& node : state_.nodes) {
      if (!selects(spec, node)) {
        continue;
      }
      const std::string name = text_at(value_at(node, "metadata"), "name");
      const std::string taint = untolerated_taint(spec, node);
      const uint64_t has =
          count_of(value_at(value_at(node, "status"), "allocatable"), kGpuResource);
      if (taint.empty() && has >= gpus) {
        add(State::Ok, what,
            fmt::format("runs on {}{}", name, gpus > 0 ? fmt::format(" ({} GPU)", has) : ""));
        if (gpus > 0) {
          check_driver(container, node, name);
        }
        return;
      }
      refused =
          !taint.empty()
              ? fmt::format("node {} has the taint {}, which it does not tolerate", name, taint)
              : fmt::format("node {} has {} GPU to give, it asks for {}", name, has, gpus);
    }
    const std::string selector = base::dump_json(value_at(spec, "nodeSelector"));
    if (!refused.empty()) {
      add(State::Missing, what, refused);
    } else {
      add(State::Note, what,
          fmt::format("no node has {}{}: right for a pool that scales from zero",
                      selector == "null" ? "room" : selector,
                      gpus > 0 ? fmt::format(" ({} GPU)", gpus) : ""));
    }
  }

  // The driver stands in labels where NVIDIA's feature discovery runs.
  void check_driver(const Json& container, const Json& node, const std::string& name) {
    const Json& labels = value_at(value_at(node, "metadata"), "labels");
    const uint64_t driver = count_of(labels, "nvidia.com/cuda.driver.major");
    const std::string image = text_at(container, "image");
    const uint64_t needed = image.ends_with("cuda13")   ? kCuda13Driver
                            : image.ends_with("cuda12") ? kCuda12Driver
                                                        : 0;
    if (driver == 0 || needed == 0) {
      return;
    }
    add(driver >= needed ? State::Ok : State::Missing, "driver",
        fmt::format("{} has driver {}; {} needs {} or newer{}", name, driver, image, needed,
                    driver >= needed ? "" : " (images.trainer.variant: cuda12 takes 525)"));
  }

  void check_gpu_node(const Json& node) {
    const std::string name = text_at(value_at(node, "metadata"), "name");
    const auto held = what_holds(state_, node);
    if (held.empty()) {
      add(State::Ok, "gpu nodes", name + " may scale down");
    }
    for (const std::string& why : held) {
      add(State::Note, "gpu nodes", name + " stays: " + why);
    }
  }

  void check_quotas() {
    const auto quotas = kubectl_.read({"get", "resourcequotas"});
    if (!quotas) {
      add(State::Note, "quotas", quotas.error().message);
      return;
    }
    for (const Json& quota : value_at(*quotas, "items")) {
      const Json& status = value_at(quota, "status");
      const std::string name = text_at(value_at(quota, "metadata"), "name");
      for (const char* const resource : {"requests.nvidia.com/gpu", "limits.nvidia.com/gpu"}) {
        if (!value_at(value_at(status, "hard"), resource).is_null()) {
          const uint64_t hard = count_of(value_at(status, "hard"), resource);
          const uint64_t used = count_of(value_at(status, "used"), resource);
          add(hard > used ? State::Ok : State::Missing, "quotas",
              fmt::format("{}: {} of {} {} used{}", name, used, hard, resource,
                          hard > used ? "" : ": a training waits for ever"));
        }
      }
    }
  }

  void check_claims() {
    const auto claims = kubectl_.read({"get", "persistentvolumeclaims",
                                       "--selector=app.kubernetes.io/instance=" + release_name_});
    if (!claims) {
      add(State::Note, "storage", claims.error().message);
      return;
    }
    for (const Json& claim : value_at(*claims, "items")) {
      const std::string name = text_at(value_at(claim, "metadata"), "name");
      const std::string phase = text_at(value_at(claim, "status"), "phase");
      add(phase == "Lost"    ? State::Missing
          : phase == "Bound" ? State::Ok
                             : State::Note,
          "storage",
          fmt::format("claim {} is {}{}", name, phase,
                      phase == "Pending" ? ": right until its first pod comes, if its class waits "
                                           "for one"
                                         : ""));
    }
  }

  const Kubectl& kubectl_;
  const std::string release_name_;
  std::set<std::string> kinds_;
  std::optional<ClusterRelease> release_;
  ClusterState state_;
  std::vector<Finding> findings_;
};

}  // namespace

Result<int> check_cluster(const Arguments& arguments, const Terminal& terminal) {
  const auto kubectl = kubectl_of(arguments);
  if (!kubectl) {
    return tl::unexpected<Error>(kubectl.error());
  }
  Doctor doctor(*kubectl, arguments.release);
  if (auto looked = doctor.look(); !looked) {
    return pass_on(looked);
  }
  Json out = Json::array();
  std::vector<std::vector<std::string>> rows = {{"", "WHAT", "FOUND"}};
  bool missing = false;
  for (const Finding& finding : doctor.findings()) {
    missing = missing || finding.state == State::Missing;
    out.push_back(
        {{"state", word_of(finding.state)}, {"what", finding.what}, {"text", finding.text}});
    rows.push_back({word_of(finding.state), finding.what, finding.text});
  }
  if (terminal.json()) {
    terminal.print_json({{"findings", std::move(out)}, {"ready", !missing}});
  } else {
    terminal.print(terminal.table(rows));
  }
  return missing ? exit_status(Code::Unavailable) : 0;
}

}  // namespace sibyl::cli
