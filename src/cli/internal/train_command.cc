#include <utility>

#include "base/json.h"
#include "base/json_access.h"
#include "cli/internal/commands.h"
#include "cli/internal/job_arguments.h"
#include "cli/internal/job_follower.h"
#include "cli/internal/run_job.h"
#include "job/plan.h"

namespace sibyl::cli {

Result<int> run_job(const Arguments& arguments, const Terminal& terminal, const job::JobFile& job) {
  if (auto there = job::check_inputs_exist(job); !there) {
    return pass_on(there);
  }
  auto owner = Owner::open(arguments.data, true);
  if (!owner) {
    return pass_on(owner);
  }
  auto submitted = (*owner)->call("POST", "/v1/jobs", base::dump_json(job::job_to_json(job)));
  if (!submitted) {
    return pass_on(submitted);
  }
  const std::string id = base::text_at(*submitted, "id");
  terminal.note(fmt::format("job {}", id));
  return follow_job(**owner, terminal, arguments.data, id);
}

Result<int> train_model(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.print_schema) {
    terminal.print(job::job_json_schema());
    return 0;
  }
  const auto job = job_from_arguments(arguments);
  if (!job) {
    return tl::unexpected<Error>(job.error());
  }
  if (!arguments.dry_run) {
    return run_job(arguments, terminal, *job);
  }
  auto owner = Owner::open(arguments.data, true);
  if (!owner) {
    return pass_on(owner);
  }
  job::StepContext context;
  context.server = (*owner)->server();
  auto plan = job::plan_job(*job, context);
  if (!plan) {
    return pass_on(plan);
  }
  terminal.print(terminal.json() ? job::plan_to_json(*plan) : job::plan_to_text(*plan));
  return 0;
}

}  // namespace sibyl::cli
