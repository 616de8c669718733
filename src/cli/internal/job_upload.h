#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/cluster_release.h"
#include "job/job_file.h"

namespace sibyl::cli {

struct UploadFile {
  std::string path;    ///< here
  std::string target;  ///< within the workspace: "input/pairs/pairs.jsonl"
};

/// The files that a job names; in `job` their paths become those within the workspace. NotFound
/// names the first that is not there.
Result<std::vector<UploadFile>> take_inputs(job::JobFile& job);

/// Brings files into a run's workspace: into the object store, or through a pod that holds the
/// claim for that while. What is there already with the same bytes stays.
Result<void> upload_inputs(const Kubectl& kubectl, const ClusterRelease& release,
                           const std::string& kind, const std::string& run,
                           const std::vector<UploadFile>& files);

}  // namespace sibyl::cli
