#include "cli/internal/node_checks.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json_access.h"

namespace sibyl::cli {
namespace {

using base::Json;
using base::text_at;
using base::value_at;

constexpr const char* kSafe = "cluster-autoscaler.kubernetes.io/safe-to-evict";
constexpr const char* kSafeVolumes = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";
constexpr const char* kNoScaleDown = "cluster-autoscaler.kubernetes.io/scale-down-disabled";
constexpr const char* kMirror = "kubernetes.io/config.mirror";

const Json& metadata_of(const Json& object) {
  return value_at(object, "metadata");
}
std::string annotation(const Json& object, const char* key) {
  return text_at(value_at(metadata_of(object), "annotations"), key);
}

// The owner that makes the pod again; null without one.
Json controller_of(const Json& pod) {
  for (const Json& owner : value_at(metadata_of(pod), "ownerReferences")) {
    if (base::flag_at(owner, "controller")) {
      return owner;
    }
  }
  return {};
}

// Pods that go with the node, or that are over.
bool does_not_count(const Json& pod) {
  const std::string phase = text_at(value_at(pod, "status"), "phase");
  return phase == "Succeeded" || phase == "Failed" || !annotation(pod, kMirror).empty() ||
         text_at(controller_of(pod), "kind") == "DaemonSet";
}

bool selector_matches(const Json& selector, const Json& labels) {
  const Json& wanted = value_at(selector, "matchLabels");
  if (!wanted.is_object() || wanted.empty()) {
    return false;
  }
  return std::ranges::all_of(wanted.items(), [&](const auto& item) {
    return item.value().is_string() && text_at(labels, item.key()) == item.value();
  });
}

std::vector<const Json*> budgets_of(const ClusterState& state, const Json& pod) {
  std::vector<const Json*> found;
  for (const Json& budget : state.budgets) {
    const bool same_place =
        text_at(metadata_of(budget), "namespace") == text_at(metadata_of(pod), "namespace");
    if (same_place && selector_matches(value_at(value_at(budget, "spec"), "selector"),
                                       value_at(metadata_of(pod), "labels"))) {
      found.push_back(&budget);
    }
  }
  return found;
}

std::string local_volume(const Json& pod) {
  const std::string freed = "," + annotation(pod, kSafeVolumes) + ",";
  for (const Json& volume : value_at(value_at(pod, "spec"), "volumes")) {
    const Json& empty = value_at(volume, "emptyDir");
    const bool local = volume.contains("hostPath") ||
                       (volume.contains("emptyDir") && text_at(empty, "medium") != "Memory");
    const std::string name = text_at(volume, "name");
    if (local && freed.find("," + name + ",") == std::string::npos) {
      return name;
    }
  }
  return {};
}

std::string eviction_refused(const ClusterState& state, const Json& pod) {
  static constexpr std::array<std::string_view, 4> kReplicated = {
      "ReplicaSet", "ReplicationController", "StatefulSet", "Job"};
  if (annotation(pod, kSafe) == "true") {
    return {};
  }
  const Json owner = controller_of(pod);
  if (owner.is_null()) {
    return "has no controller, so nothing would make it again";
  }
  const std::string kind = text_at(owner, "kind");
  if (std::ranges::find(kReplicated, kind) == kReplicated.end()) {
    return fmt::format("belongs to {} {}, a controller that the autoscaler does not know", kind,
                       text_at(owner, "name"));
  }
  const auto budgets = budgets_of(state, pod);
  if (text_at(metadata_of(pod), "namespace") == "kube-system" && budgets.empty()) {
    return "is a kube-system pod without a disruption budget";
  }
  if (annotation(pod, kSafe) == "false") {
    return fmt::format("is annotated {}=false", kSafe);
  }
  if (const std::string volume = local_volume(pod); !volume.empty()) {
    return fmt::format("has local storage (volume {})", volume);
  }
  for (const Json* const budget : budgets) {
    if (base::number_at(value_at(*budget, "status"), "disruptionsAllowed") < 1) {
      return fmt::format("its disruption budget {} allows no eviction now",
                         text_at(metadata_of(*budget), "name"));
    }
  }
  return {};
}

uint64_t gpus_of(const Json& pod_spec) {
  uint64_t sum = 0;
  for (const Json& container : value_at(pod_spec, "containers")) {
    const Json& resources = value_at(container, "resources");
    sum += std::max(count_of(value_at(resources, "limits"), kGpuResource),
                    count_of(value_at(resources, "requests"), kGpuResource));
  }
  return sum;
}

bool fits_elsewhere(const ClusterState& state, const Json& pod, const std::string& node) {
  const Json& spec = value_at(pod, "spec");
  return std::ranges::any_of(state.nodes, [&](const Json& other) {
    return text_at(metadata_of(other), "name") != node && selects(spec, other) &&
           untolerated_taint(spec, other).empty() &&
           !base::flag_at(value_at(other, "spec"), "unschedulable") &&
           count_of(value_at(value_at(other, "status"), "allocatable"), kGpuResource) >=
               gpus_of(spec);
  });
}

}  // namespace

uint64_t count_of(const Json& resources, const std::string& name) {
  const std::string text = base::shown_at(resources, name);
  uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

bool selects(const Json& pod_spec, const Json& node) {
  const Json& labels = value_at(metadata_of(node), "labels");
  const Json& wanted = value_at(pod_spec, "nodeSelector");
  return !wanted.is_object() || std::ranges::all_of(wanted.items(), [&](const auto& item) {
    const Json& has = value_at(labels, item.key());
    return has.is_string() && has == item.value();
  });
}

std::string untolerated_taint(const Json& pod_spec, const Json& node) {
  for (const Json& taint : value_at(value_at(node, "spec"), "taints")) {
    const std::string effect = text_at(taint, "effect");
    if (effect != "NoSchedule" && effect != "NoExecute") {
      continue;
    }
    const Json& tolerations = value_at(pod_spec, "tolerations");
    const bool tolerated = std::ranges::any_of(tolerations, [&](const Json& toleration) {
      const std::string for_effect = text_at(toleration, "effect");
      const std::string key = text_at(toleration, "key");
      const bool exists = text_at(toleration, "operator") == "Exists";
      return (for_effect.empty() || for_effect == effect) &&
             (key == text_at(taint, "key") || (exists && key.empty())) &&
             (exists || text_at(toleration, "value") == text_at(taint, "value"));
    });
    if (!tolerated) {
      return fmt::format("{}={}:{}", text_at(taint, "key"), text_at(taint, "value"), effect);
    }
  }
  return {};
}

ClusterState sort_state(const Json& list) {
  ClusterState state;
  for (const Json& item : value_at(list, "items")) {
    const std::string kind = text_at(item, "kind");
    if (kind == "Node") {
      state.nodes.push_back(item);
    } else if (kind == "Pod") {
      state.pods.push_back(item);
    } else if (kind == "PodDisruptionBudget") {
      state.budgets.push_back(item);
    }
  }
  return state;
}

std::vector<std::string> what_holds(const ClusterState& state, const Json& node) {
  std::vector<std::string> found;
  const std::string name = text_at(metadata_of(node), "name");
  if (annotation(node, kNoScaleDown) == "true") {
    found.push_back(fmt::format("the node is annotated {}=true", kNoScaleDown));
  }
  for (const Json& pod : state.pods) {
    if (text_at(value_at(pod, "spec"), "nodeName") != name || does_not_count(pod)) {
      continue;
    }
    std::string why = eviction_refused(state, pod);
    if (why.empty() && gpus_of(value_at(pod, "spec")) > 0) {
      why = "uses a GPU";
    }
    if (why.empty() && !fits_elsewhere(state, pod, name)) {
      why = "fits on no other node";
    }
    if (!why.empty()) {
      found.push_back(fmt::format("pod {}/{} {}", text_at(metadata_of(pod), "namespace"),
                                  text_at(metadata_of(pod), "name"), why));
    }
  }
  return found;
}

}  // namespace sibyl::cli
