#include "cli/internal/cluster_release.h"

#include <algorithm>
#include <utility>

#include "base/json_access.h"

namespace sibyl::cli {
namespace {

using base::Json;

constexpr std::string_view kSteps = ".steps";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) {
      out.push_back(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return out;
}

Json template_of(const Json& workflow, const std::string& step) {
  for (const Json& item : base::value_at(base::value_at(workflow, "spec"), "templates")) {
    if (base::text_at(item, "name") == step) {
      return item;
    }
  }
  return {};
}

Json job_spec(const Json& jobs, const std::string& kind, const std::string& step) {
  const auto json =
      base::parse_json(base::text_at(jobs, kind + "." + step + ".json"), kind + "." + step);
  return json ? base::value_at(base::value_at(base::value_at(*json, "spec"), "template"), "spec")
              : Json();
}

}  // namespace

std::vector<std::string> ClusterRelease::kinds() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : (argo ? templates : jobs).items()) {
    if (argo) {
      out.push_back(key);
    } else if (std::string_view(key).ends_with(kSteps)) {
      out.push_back(key.substr(0, key.size() - kSteps.size()));
    }
  }
  return out;
}

std::vector<std::string> ClusterRelease::steps(const std::string& kind) const {
  if (!argo) {
    return words(base::text_at(jobs, kind + std::string(kSteps)));
  }
  std::vector<std::string> out;
  const Json& workflow = base::value_at(templates, kind);
  const Json run =
      template_of(workflow, base::text_at(base::value_at(workflow, "spec"), "entrypoint"));
  for (const Json& task : base::value_at(base::value_at(run, "dag"), "tasks")) {
    out.push_back(base::text_at(task, "name"));
  }
  return out;
}

Json ClusterRelease::container(const std::string& kind, const std::string& step) const {
  if (argo) {
    return base::value_at(template_of(base::value_at(templates, kind), step), "container");
  }
  const Json spec = job_spec(jobs, kind, step);
  const Json& containers = base::value_at(spec, "containers");
  return containers.is_array() && !containers.empty() ? containers[0] : Json();
}

Json ClusterRelease::pod(const std::string& kind, const std::string& step) const {
  if (!argo) {
    return job_spec(jobs, kind, step);
  }
  const Json& spec = base::value_at(base::value_at(templates, kind), "spec");
  const Json own = template_of(base::value_at(templates, kind), step);
  Json pod = Json::object();
  for (const char* const key : {"volumes", "securityContext", "imagePullSecrets",
                                "serviceAccountName", "automountServiceAccountToken"}) {
    if (const Json& value = base::value_at(spec, key); !value.is_null()) {
      pod[key] = value;
    }
  }
  for (const char* const key : {"nodeSelector", "tolerations", "affinity"}) {
    if (const Json& value = base::value_at(own, key); !value.is_null()) {
      pod[key] = value;
    }
  }
  return pod;
}

Result<std::string> ClusterRelease::workspace(const std::string& kind,
                                              const std::string& run) const {
  const Json own = container(kind, "prepare");
  const Json& args = base::value_at(own, "args");
  for (size_t i = 0; args.is_array() && i + 1 < args.size(); ++i) {
    if (args[i] == "--workspace" && args[i + 1].is_string()) {
      auto text = args[i + 1].get<std::string>();
      replace_all(text, "{{workflow.name}}", run);
      replace_all(text, "$$(", "\1");  // escaped, so it is none of ours
      replace_all(text, "$(SIBYL_RUN)", run);
      replace_all(text, "\1", "$(");
      return text;
    }
  }
  return fail(Code::InvalidData,
              "release {} has no step prepare with a workspace for jobs of kind {}", name, kind);
}

std::string chart_kind(const std::string& job_kind) {
  return job_kind == "evaluate" ? "evaluation" : job_kind;
}

Result<Kubectl> kubectl_of(const Arguments& arguments) {
  if (auto right = check_label("--release", arguments.release, 53); !right) {
    return pass_on(right);
  }
  if (!arguments.name_space.empty()) {
    if (auto right = check_label("--namespace", arguments.name_space); !right) {
      return pass_on(right);
    }
  }
  return Kubectl(arguments.name_space, arguments.context);
}

Result<ClusterRelease> find_release(const Kubectl& kubectl, const std::string& name) {
  ClusterRelease release;
  release.name = name;
  const std::string selector = fmt::format(
      "--selector=app.kubernetes.io/instance={},app.kubernetes.io/component=training", name);
  auto maps = kubectl.read({"get", "configmaps", selector});
  if (!maps) {
    return pass_on(maps);
  }
  for (const Json& map : base::value_at(*maps, "items")) {
    const Json& data = base::value_at(map, "data");
    const bool ours = data.is_object() && std::ranges::any_of(data.items(), [](const auto& item) {
                        return std::string_view(item.key()).ends_with(kSteps);
                      });
    if (ours) {
      release.jobs = data;
      return release;
    }
  }
  auto templates = kubectl.read({"get", "workflowtemplates.argoproj.io", selector});
  if (!templates && templates.error().code != Code::NotFound) {
    return pass_on(templates);
  }
  release.argo = true;
  release.templates = Json::object();
  if (templates) {
    for (const Json& item : base::value_at(*templates, "items")) {
      const Json& metadata = base::value_at(item, "metadata");
      const std::string kind = base::text_at(base::value_at(metadata, "labels"), "sibyl.dev/kind");
      if (!kind.empty()) {
        release.templates[kind] = item;
      }
    }
  }
  if (release.templates.empty()) {
    return fail(Code::NotFound,
                "namespace '{}' holds no training of a release '{}'; install it (helm install {} "
                "deploy/chart), or name it by --release and --namespace",
                kubectl.name_space().empty() ? "(kubectl's own)" : kubectl.name_space(), name,
                name);
  }
  return release;
}

}  // namespace sibyl::cli
