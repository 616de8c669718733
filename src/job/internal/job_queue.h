#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/child_process.h"
#include "base/json.h"
#include "job/runner.h"

namespace sibyl::job::internal {

/// The jobs of a folder and the thread that runs one after the other. Thread-safe.
class JobQueue {
 public:
  explicit JobQueue(JobRunner::Options options) : options_(std::move(options)) {}
  /// Passes SIGTERM on and waits for the running step.
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  /// Reads the history. What was queued or running when the process died is interrupted.
  Result<void> load();
  Result<std::string> add(JobInfo info, const base::Json& job);
  std::vector<JobInfo> list() const;
  Result<JobInfo> find(const std::string& id) const;
  Result<void> cancel(const std::string& id);
  Result<void> resume(const std::string& id);

 private:
  void start_thread();
  void work(const std::stop_token& stop);
  void run_job(const std::string& id, const std::stop_token& stop);
  /// Exit status of the step.
  int run_step_process(const std::string& id, const std::string& step, const std::stop_token& stop);
  void finish(const std::string& id, const std::string& step, int status, bool stopping);
  Result<void> save(const JobInfo& info) const;
  /// Changes the state and saves it; a failed save is logged.
  void set_state(const std::string& id, JobState state, const std::string& step);
  std::string folder(const std::string& id) const;
  tl::unexpected<Error> no_job(const std::string& id) const;

  const JobRunner::Options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<std::string, JobInfo> jobs_;
  std::deque<std::string> waiting_;
  std::string running_;
  bool cancelling_ = false;  // of the running job
  base::ChildProcess* child_ = nullptr;
  std::jthread thread_;
};

}  // namespace sibyl::job::internal
