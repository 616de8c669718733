#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::base {

struct ChildOptions {
  std::vector<std::string> arguments;  ///< argv; [0] is looked up in PATH; no shell is involved
  std::map<std::string, std::string> environment;  ///< added to or replacing the parent's
  std::string input;                               ///< written to standard input, then closed
  std::string folder;                              ///< working directory; empty: the parent's
  int64_t timeout_ms = 0;                          ///< 0: none; killed with its group after that
  uint64_t output_bytes_max = uint64_t{64} << 20;  ///< of standard output; more: killed, TooLarge
  uint64_t memory_bytes_max = 0;                   ///< RLIMIT_AS; 0: none
  uint64_t cpu_seconds_max = 0;                    ///< RLIMIT_CPU; 0: none
  std::stop_token stop;                            ///< of `run_child`: killed with its group then
};

struct ChildOutcome {
  int exit_status = 0;  ///< 128 + signal when a signal ended it
  std::string output;
  std::string errors;  ///< the last 64 KiB of standard error
};

/// Runs to the end. NotFound when the program is missing, DeadlineExceeded, TooLarge, Interrupted;
/// an exit status that is not zero is not an error of this call.
Result<ChildOutcome> run_child(const ChildOptions& options);

/// A child that runs beside us. Killed (SIGKILL, its whole group) by the destructor if it still
/// runs; dies with the parent (PR_SET_PDEATHSIG). Externally synchronised, `signal` may come from
/// anywhere.
class ChildProcess {
 public:
  /// Standard output and error go to `log_path` (appended) unless empty: then inherited.
  static Result<std::unique_ptr<ChildProcess>> start(const ChildOptions& options,
                                                     const std::string& log_path);
  virtual ~ChildProcess() = default;
  virtual int64_t process_id() const = 0;
  virtual void signal(int number) = 0;
  /// Waits at most `timeout_ms` (-1: for ever); empty while it still runs.
  virtual std::optional<int> wait_exit_status(int64_t timeout_ms) = 0;
};

/// The path of the running program's own file.
std::string own_program_path();

}  // namespace sibyl::base
