#include <cstdlib>
#include <utility>

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
  if (const char* const key = std::getenv("SIBYL_API_KEY")) {
    context.api_key = key;
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
