#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace sibyl::cli {

inline constexpr const char* kGpuResource = "nvidia.com/gpu";

/// A whole number of a resource; 0 when it is missing or no number.
uint64_t count_of(const base::Json& resources, const std::string& name);
/// Whether a pod's tolerations let it onto the node; names the first taint that does not.
std::string untolerated_taint(const base::Json& pod_spec, const base::Json& node);
/// Whether the labels of the node are those that the pod's nodeSelector wants.
bool selects(const base::Json& pod_spec, const base::Json& node);

/// What `kubectl get nodes,pods,poddisruptionbudgets` gives, sorted by kind.
struct ClusterState {
  std::vector<base::Json> nodes;
  std::vector<base::Json> pods;
  std::vector<base::Json> budgets;
};
ClusterState sort_state(const base::Json& list);

/// Why the cluster autoscaler would not take the node away, pod by pod, by its rules with default
/// flags; empty: it may go.
std::vector<std::string> what_holds(const ClusterState& state, const base::Json& node);

}  // namespace sibyl::cli
