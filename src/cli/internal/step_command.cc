#include <string>
#include <utility>

#include "base/environment.h"
#include "base/stop.h"
#include "cli/internal/commands.h"
#include "job/step.h"

namespace sibyl::cli {
Result<int> run_job_step(const Arguments& arguments, const Terminal& terminal) {
  auto workspace = job::Workspace::open(arguments.workspace);
  if (!workspace) {
    return pass_on(workspace);
  }
  job::StepContext context;
  context.server = arguments.server;
  context.stop = base::process_stop_token();
  context.api_key = base::environment_variable("SIBYL_API_KEY");
  context.ca_file = base::environment_variable("SIBYL_CA_FILE");
  context.job_file = base::environment_variable("SIBYL_JOB");
  context.store = base::environment_variable("SIBYL_STORE");
  context.deploy = {base::environment_variable("SIBYL_DEPLOY_KIND"),
                    base::environment_variable("SIBYL_DEPLOY_NAMESPACE"),
                    base::environment_variable("SIBYL_DEPLOY_TARGETS"),
                    base::environment_variable("SIBYL_DEPLOY_POINTER"),
                    base::environment_variable("SIBYL_DEPLOY_MODEL"),
                    base::environment_variable("KUBERNETES_SERVICE_HOST"),
                    base::environment_variable("KUBERNETES_SERVICE_PORT")};
  if (std::string folder = base::environment_variable("SIBYL_DEPLOY_ACCOUNT"); !folder.empty()) {
    context.deploy.account_folder = std::move(folder);
  }
  if (auto done = job::run_step(arguments.name, *workspace, context); !done) {
    return pass_on(done);
  }
  if (terminal.json()) {
    terminal.print_json_text(fmt::format(R"({{"step":"{}","state":"done"}})", arguments.name));
  }
  return 0;
}

}  // namespace sibyl::cli
