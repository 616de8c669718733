#include "job/internal/job_queue.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "job/internal/event_tail.h"
#include "job/internal/job_state.h"
#include "job/step.h"

namespace sibyl::job::internal {
namespace {

constexpr int64_t kPollMs = 200;
// The trainer has 30 seconds for its checkpoint; the step that holds it gets a little more.
constexpr int64_t kStopPatienceUs = 40'000'000;
constexpr int kInterrupted = 75;

bool ended(JobState state) {
  return state != JobState::Queued && state != JobState::Running;
}

}  // namespace

JobQueue::~JobQueue() {
  if (thread_.joinable()) {
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
  }
}

std::string JobQueue::folder(const std::string& id) const {
  return base::join_path(options_.directory, id);
}

tl::unexpected<Error> JobQueue::no_job(const std::string& id) const {
  return fail(Code::NotFound, "there is no job '{}'; `sibyl jobs list` names those there are", id);
}

Result<void> JobQueue::load() {
  auto entries = base::real_file_system().list(options_.directory);
  if (!entries) {
    return pass_on(entries);
  }
  const std::lock_guard lock(mutex_);
  for (const base::FileEntry& entry : *entries) {
    if (!entry.directory) {
      continue;
    }
    auto info = read_job_state(folder(entry.name));
    if (!info) {
      base::log_warning("job", "{} is left out of the history: {}", folder(entry.name),
                        info.error().message);
      continue;
    }
    if (!ended(info->state)) {
      info->state = JobState::Interrupted;
      info->error = "the process that ran it ended; resume it to go on";
      if (auto saved = save(*info); !saved) {
        base::log_warning("job", "{}: {}", info->id, saved.error().message);
      }
    }
    jobs_[info->id] = std::move(*info);
  }
  return {};
}

Result<std::string> JobQueue::add(JobInfo info, const base::Json& job) {
  const std::string id = info.id;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= options_.queue_max) {
      return fail(Code::ResourceExhausted, "{} jobs are waiting already; at most {}",
                  waiting_.size(), options_.queue_max);
    }
  }
  auto& files = base::real_file_system();
  const std::string workspace = base::join_path(folder(id), "workspace");
  auto done = files.create_directories(workspace);
  if (done) {
    done =
        base::replace_file(base::join_path(folder(id), "job.json"), base::dump_json(job, 2) + "\n");
  }
  if (done) {
    done = base::replace_file(base::join_path(workspace, "job.json"),
                              base::dump_json({{"format", 1}, {"job", job}}, 2) + "\n");
  }
  if (done) {
    done = save(info);
  }
  if (!done) {
    return pass_on(done);
  }
  {
    const std::lock_guard lock(mutex_);
    jobs_[id] = std::move(info);
    waiting_.push_back(id);
    start_thread();
  }
  wake_.notify_all();
  return id;
}

std::vector<JobInfo> JobQueue::list() const {
  std::vector<JobInfo> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, info] : jobs_) {
    out.push_back(info);
  }
  std::sort(out.begin(), out.end(), [](const JobInfo& a, const JobInfo& b) {
    return a.created_us != b.created_us ? a.created_us > b.created_us : a.id < b.id;
  });
  return out;
}

Result<JobInfo> JobQueue::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    return no_job(id);
  }
  return found->second;
}

Result<void> JobQueue::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    return no_job(id);
  }
  JobInfo& info = found->second;
  if (ended(info.state)) {
    return fail(Code::FailedPrecondition, "job {} is {} already", id, state_name(info.state));
  }
  if (running_ == id) {
    cancelling_ = true;  // the thread passes it on to the step
    if (child_ != nullptr) {
      child_->signal(SIGTERM);
    }
    return {};
  }
  std::erase(waiting_, id);
  info.state = JobState::Cancelled;
  info.ended_us = base::system_clock().now_us();
  return save(info);
}

Result<void> JobQueue::resume(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) {
      return no_job(id);
    }
    JobInfo& info = found->second;
    if (!ended(info.state) || info.state == JobState::Done) {
      return fail(Code::FailedPrecondition, "job {} is {}; nothing is to be resumed", id,
                  state_name(info.state));
    }
    if (waiting_.size() >= options_.queue_max) {
      return fail(Code::ResourceExhausted, "{} jobs are waiting already", waiting_.size());
    }
    info.state = JobState::Queued;
    info.error.clear();
    info.ended_us = 0;
    if (auto saved = save(info); !saved) {
      return saved;
    }
    waiting_.push_back(id);
    start_thread();
  }
  wake_.notify_all();
  return {};
}

// With the lock held. Started by the first job: a command that only asks needs no thread.
void JobQueue::start_thread() {
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
}

void JobQueue::work(const std::stop_token& stop) {
  for (;;) {
    std::string id;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
        break;
      }
      id = waiting_.front();
      waiting_.pop_front();
      running_ = id;
      cancelling_ = false;
    }
    run_job(id, stop);
    const std::lock_guard lock(mutex_);
    running_.clear();
  }
  const std::lock_guard lock(mutex_);
  for (const std::string& id : waiting_) {
    jobs_[id].state = JobState::Interrupted;
    jobs_[id].error = "the process ended before it started; resume it";
    if (auto saved = save(jobs_[id]); !saved) {
      base::log_warning("job", "{}: {}", id, saved.error().message);
    }
  }
}

void JobQueue::run_job(const std::string& id, const std::stop_token& stop) {
  std::string kind;
  {
    const std::lock_guard lock(mutex_);
    kind = jobs_[id].kind;
  }
  for (const std::string& step : steps_of(kind)) {
    set_state(id, JobState::Running, step);
    const int status = run_step_process(id, step, stop);
    if (status != 0) {
      finish(id, step, status, stop.stop_requested());
      return;
    }
    const std::lock_guard lock(mutex_);
    if (cancelling_ || stop.stop_requested()) {
      break;
    }
  }
  std::unique_lock lock(mutex_);
  const bool stopped = cancelling_ || stop.stop_requested();
  const std::string last = jobs_[id].step;
  lock.unlock();
  // A request that came while the last step ended comes too late.
  finish(id, last, stopped && last != steps_of(kind).back() ? kInterrupted : 0,
         stop.stop_requested());
}

int JobQueue::run_step_process(const std::string& id, const std::string& step,
                               const std::stop_token& stop) {
  base::ChildOptions options;
  options.arguments = {options_.program, "step", step, "--workspace",
                       base::join_path(folder(id), "workspace")};
  if (!options_.server.empty()) {
    options.arguments.insert(options.arguments.end(), {"--server", options_.server});
  }
  auto child = base::ChildProcess::start(options, base::join_path(folder(id), "log.txt"));
  if (!child) {
    const std::lock_guard lock(mutex_);
    jobs_[id].error = child.error().message;
    return exit_status(child.error().code);
  }
  {
    const std::lock_guard lock(mutex_);
    child_ = child->get();
    if (cancelling_) {
      child_->signal(SIGTERM);  // asked for before the step had started
    }
  }
  std::optional<int64_t> asked_us;
  std::optional<int> status;
  while (!status) {
    status = (*child)->wait_exit_status(kPollMs);
    const int64_t now_us = base::system_clock().steady_us();
    const std::lock_guard lock(mutex_);
    if ((stop.stop_requested() || cancelling_) && !asked_us) {
      asked_us = now_us;
      (*child)->signal(SIGTERM);
    }
    if (asked_us && now_us - *asked_us > kStopPatienceUs) {
      (*child)->signal(SIGKILL);
    }
  }
  const std::lock_guard lock(mutex_);
  child_ = nullptr;
  return *status;
}

void JobQueue::finish(const std::string& id, const std::string& step, int status, bool stopping) {
  const auto workspace = Workspace::open(base::join_path(folder(id), "workspace"));
  const std::string said = workspace ? last_error(*workspace, step) : std::string();
  const std::string model = published_model(folder(id));
  const std::lock_guard lock(mutex_);
  JobInfo& info = jobs_[id];
  info.ended_us = base::system_clock().now_us();
  info.model = model;
  if (status == 0) {
    info.state = JobState::Done;
    info.error.clear();
  } else if (cancelling_) {
    info.state = JobState::Cancelled;
    info.error = "cancelled; resume it to go on";
  } else if (status == kInterrupted || stopping) {
    info.state = JobState::Interrupted;
    info.error = said.empty() ? "interrupted; resume it to go on" : said;
  } else {
    info.state = JobState::Failed;
    if (!said.empty()) {
      info.error = said;
    } else if (info.error.empty()) {
      info.error = fmt::format("the step {} ended with {}; its log says more", step, status);
    }
  }
  if (auto saved = save(info); !saved) {
    base::log_error("job", "{}: {}", id, saved.error().message);
  }
}

void JobQueue::set_state(const std::string& id, JobState state, const std::string& step) {
  const std::lock_guard lock(mutex_);
  JobInfo& info = jobs_[id];
  info.state = state;
  info.step = step;
  if (auto saved = save(info); !saved) {
    base::log_error("job", "{}: {}", id, saved.error().message);
  }
}

Result<void> JobQueue::save(const JobInfo& info) const {
  return write_job_state(folder(info.id), info);
}

}  // namespace sibyl::job::internal
