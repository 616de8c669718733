#pragma once

#include "base/result.h"
#include "cli/internal/arguments.h"
#include "job/job_file.h"

namespace sibyl::cli {

/// The job that `sibyl train` was asked for: a job file, or `supervised` or `coldstart` with flags;
/// flags and --set win over the file.
Result<job::JobFile> job_from_arguments(const Arguments& arguments);
/// The job of `sibyl evaluate JOB.yaml`.
Result<job::JobFile> evaluation_job(const Arguments& arguments);
/// Whether `target` names a job file and not a collection.
bool is_job_file(const std::string& target);

}  // namespace sibyl::cli
