#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "job/job_file.h"
#include "job/step.h"

namespace sibyl::job {

struct PlannedParameter {
  std::string name;
  std::string value;  ///< JSON
  std::string reason;
};

/// What a job would do: its data as found, the base, every parameter and why.
struct Plan {
  std::string name;
  std::string kind;
  std::string base;
  std::string base_kind;
  std::vector<std::string> steps;
  std::vector<PlannedParameter> parameters;  ///< empty for an evaluation
  std::vector<std::string> notes;
  std::string statistics;  ///< JSON object
};

/// Reads and checks all inputs as `prepare` does, writes nothing.
Result<Plan> plan_job(const JobFile& job, const StepContext& context);
std::string plan_to_json(const Plan& plan);
std::string plan_to_text(const Plan& plan);

}  // namespace sibyl::job
