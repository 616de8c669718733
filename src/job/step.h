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

/// What `deploy` works on: the SIBYL_DEPLOY_* variables (docs/cluster/pods.md) and where the API
/// server is.
struct DeployTarget {
  std::string kind;        ///< seldon, kserve or deployment
  std::string name_space;  ///< of the objects
  std::string targets;     ///< JSON object: model name -> name of the object
  std::string pointer;     ///< current or candidate
  std::string model;       ///< NAME@VERSION; blank: what publish wrote
  std::string api_host;    ///< of the API server, as the cluster tells its pods
  std::string api_port;
  /// Holds `token`, read anew for each request because it changes, and `ca.crt`.
  std::string account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  double first_pause_seconds = 0.25;  ///< before the API server is asked again; doubles, to 5 s
};

/// What a step may use beside its workspace.
struct StepContext {
  std::string server;  ///< "unix:/path" or http(s) URL of the owner, for publish and collections
  std::string api_key;
  std::string ca_file;   ///< certificates to trust for `server`; empty: the system's
  std::string job_file;  ///< for prepare: the job file as JSON; blank: the workspace has it
  std::string store;     ///< SIBYL_STORE, "s3://bucket/prefix" of published models; blank: none
  std::string trainer_program;  ///< path of sibyl-trainer; empty: beside our own program, then PATH
  DeployTarget deploy;
  std::stop_token stop;  ///< SIGTERM: save state within 10 seconds, return Interrupted
  /// That time; pods of machines that go away get 15 seconds.
  double save_seconds = 10;
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
