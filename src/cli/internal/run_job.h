#pragma once

#include "cli/internal/commands.h"
#include "job/job_file.h"

namespace sibyl::cli {

/// Hands a job to the owner and follows it to its end.
Result<int> run_job(const Arguments& arguments, const Terminal& terminal, const job::JobFile& job);

}  // namespace sibyl::cli
