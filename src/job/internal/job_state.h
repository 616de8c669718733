#pragma once

#include <string>

#include "base/result.h"
#include "job/runner.h"

namespace sibyl::job::internal {

/// `state.json` of a job's folder, one way and the other.
Result<void> write_job_state(const std::string& folder, const JobInfo& info);
Result<JobInfo> read_job_state(const std::string& folder);
/// The reference that the step publish noted; empty before it.
std::string published_model(const std::string& folder);

}  // namespace sibyl::job::internal
