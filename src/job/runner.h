#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::job {

enum class JobState { Queued, Running, Done, Failed, Cancelled, Interrupted };
std::string_view state_name(JobState state);

struct JobInfo {
  std::string id;  ///< "helpdesk-20261130-150405-3f2a"
  std::string name;
  std::string kind;
  JobState state = JobState::Queued;
  std::string step;   ///< running or last
  std::string error;  ///< why it failed
  std::string model;  ///< published reference, when done
  int64_t created_us = 0;
  int64_t ended_us = 0;
};

/// Jobs of a data directory: DIR/ID/{job.json,state.json,log.txt,workspace/}; folders are the
/// history, no database. One job runs at a time, each step as a child process `sibyl step NAME`; a
/// job that was running when the process died is Interrupted and can be resumed. Thread-safe.
class JobRunner {
 public:
  struct Options {
    std::string directory;
    std::string program;  ///< sibyl's own path
    std::string server;   ///< where steps reach the owner: "unix:/…"
    size_t queue_max = 16;
  };
  static Result<std::unique_ptr<JobRunner>> open(Options options);
  virtual ~JobRunner() = default;  ///< passes SIGTERM on and waits for the running step
  /// The job as JSON with absolute file paths; copies nothing until prepare runs.
  virtual Result<std::string> submit(const base::Json& job) = 0;
  virtual std::vector<JobInfo> list() const = 0;  ///< newest first
  virtual Result<JobInfo> find(const std::string& id) const = 0;
  virtual Result<void> cancel(const std::string& id) = 0;
  virtual Result<void> resume(const std::string& id) = 0;
  virtual Result<std::string> log(const std::string& id) const = 0;
  /// Event lines from byte `offset` on; sets `offset` to the end of the last whole line. Waits up
  /// to `wait_ms` for the first.
  virtual Result<std::vector<std::string>> events(const std::string& id, uint64_t& offset,
                                                  int64_t wait_ms) const = 0;
};

}  // namespace sibyl::job
