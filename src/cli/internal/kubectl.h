#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/stop.h"

namespace sibyl::cli {

/// Runs kubectl as a child process, its arguments as a list: nothing that a user wrote ever meets a
/// shell. kubectl knows how to reach every cloud's cluster, which we need not.
class Kubectl {
 public:
  /// `name_space` and `context` may be empty: kubectl's own.
  Kubectl(std::string name_space, std::string context);

  /// The output. NotFound, AlreadyExists, PermissionDenied, Unavailable as kubectl tells them,
  /// with its words. Interrupted, and kubectl ended, by `stop`: of itself it sees no Ctrl-C, as it
  /// runs in a process group of its own.
  Result<std::string> run(const std::vector<std::string>& arguments, const std::string& input = {},
                          int64_t timeout_ms = 60'000,
                          const std::stop_token& stop = base::process_stop_token()) const;
  /// The same with `-o json`, read.
  Result<base::Json> read(std::vector<std::string> arguments, const std::string& input = {}) const;
  /// The whole command line, for `start` of a child that runs beside us.
  std::vector<std::string> command(const std::vector<std::string>& arguments) const;
  const std::string& name_space() const { return name_space_; }

 private:
  const std::string name_space_;
  const std::string context_;
};

/// InvalidArgument unless `text` is a name that Kubernetes takes (RFC 1123 label) of at most
/// `length_max` characters. `what` names it: "--run".
Result<void> check_label(const std::string& what, const std::string& text, size_t length_max = 63);

}  // namespace sibyl::cli
