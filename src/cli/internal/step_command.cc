#include <string>
#include <utility>

#include "base/stop.h"
#include "cli/internal/commands.h"
#include "cli/internal/environment.h"
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
  context.api_key = variable("SIBYL_API_KEY");
  context.ca_file = variable("SIBYL_CA_FILE");
  context.job_file = variable("SIBYL_JOB");
  context.store = variable("SIBYL_STORE");
  context.deploy = {variable("SIBYL_DEPLOY_KIND"),      variable("SIBYL_DEPLOY_NAMESPACE"),
                    variable("SIBYL_DEPLOY_TARGETS"),   variable("SIBYL_DEPLOY_POINTER"),
                    variable("SIBYL_DEPLOY_MODEL"),     variable("KUBERNETES_SERVICE_HOST"),
                    variable("KUBERNETES_SERVICE_PORT")};
  if (std::string folder = variable("SIBYL_DEPLOY_ACCOUNT"); !folder.empty()) {
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
