#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/internal/arguments.h"
#include "cli/internal/kubectl.h"

namespace sibyl::cli {

/// What a release of the chart has for training: Argo's templates, or manifests of plain Jobs.
struct ClusterRelease {
  std::string name;
  bool argo = false;
  base::Json templates;  ///< argo: kind -> WorkflowTemplate
  base::Json jobs;       ///< else: data of the ConfigMap, "KIND.steps" and "KIND.STEP.json"

  std::vector<std::string> kinds() const;
  std::vector<std::string> steps(const std::string& kind) const;
  /// The container of a step; a null value when there is none.
  base::Json container(const std::string& kind, const std::string& step) const;
  /// Selector, tolerations, volumes, accounts: what stands around that container, as a pod's spec.
  base::Json pod(const std::string& kind, const std::string& step) const;
  /// Where the run's workspace lies: "s3://…/runs/RUN" or "/workspace/RUN".
  Result<std::string> workspace(const std::string& kind, const std::string& run) const;
};

/// Looks it up in the cluster; NotFound says how to install it.
Result<ClusterRelease> find_release(const Kubectl& kubectl, const std::string& name);
/// kubectl and the release that the command line names, both checked.
Result<Kubectl> kubectl_of(const Arguments& arguments);
/// The name of a job's kind in the chart.
std::string chart_kind(const std::string& job_kind);

}  // namespace sibyl::cli
