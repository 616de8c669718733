#pragma once

#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "job/job_file.h"
#include "job/step.h"

namespace sibyl::job::internal {

/// What training starts from, or what an evaluation judges.
struct BaseModel {
  std::string name;
  std::string kind;    ///< "transformer", "static" (from nothing), or "none" (BM25 alone)
  std::string folder;  ///< model directory to copy; empty when there is none
  std::shared_ptr<base::TemporaryDirectory> fetched;  ///< keeps `folder` when it was downloaded
};

/// Finds the base of a job: a folder, a model of the owner's registry (which gives its path to
/// local peers, and its files to others), or none. Never silently another one.
Result<BaseModel> find_base_model(const JobFile& job, const StepContext& context);

/// Copies a model directory; the copy appears whole.
Result<void> copy_model(const std::string& from, const std::string& to);

}  // namespace sibyl::job::internal
