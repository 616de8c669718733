#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/workspace.h"

namespace sibyl::job {

/// What a step may use beside its workspace.
struct StepContext {
  std::string server;  ///< "unix:/path" or http(s) URL of the owner, for publish and collections
  std::string api_key;
  std::string trainer_program;  ///< path of sibyl-trainer; empty: beside our own program, then PATH
  std::stop_token stop;         ///< SIGTERM: save state within 10 seconds, return Interrupted
};

/// One step of a job: prepare, train, evaluate, publish (in a cluster also deploy). Idempotent:
/// what is done stays done; resumable: an interrupted step goes on. Errors become exit codes: done
/// (0), try again (75), wrong input (65, 66, 78), missing service (69).
class Step {
 public:
  virtual ~Step() = default;
  virtual std::string_view name() const = 0;
  virtual Result<void> run(Workspace& workspace, const StepContext& context) = 0;
};

/// nullptr for an unknown name.
std::unique_ptr<Step> make_step(std::string_view name);
/// The steps of a job of one kind, in order.
std::vector<std::string> steps_of(std::string_view kind);
/// Runs one step unless it is done, with its start and end events.
Result<void> run_step(std::string_view name, Workspace& workspace, const StepContext& context);

}  // namespace sibyl::job
