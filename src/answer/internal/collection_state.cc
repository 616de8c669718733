#include "answer/internal/collection_state.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"

namespace sibyl::answer::internal {

SwitchProgress CollectionState::progress() const {
  const std::lock_guard lock(progress_mutex_);
  return progress_;
}

void CollectionState::note_progress(uint64_t done, uint64_t total) {
  const std::lock_guard lock(progress_mutex_);
  progress_.done = done;
  progress_.total = total;
}

Result<void> CollectionState::start_background(const std::string& target,
                                               std::function<Result<void>(std::stop_token)> work) {
  const std::lock_guard lock(progress_mutex_);
  if (progress_.running) {
    return fail(
        Code::FailedPrecondition,
        "collection '{}' is being re-encoded for model '{}' ({} of {} documents); wait for it",
        rows_->name(), progress_.target, progress_.done, progress_.total);
  }
  progress_ = {true, target, 0, rows_->snapshot()->live_rows(), {}, 0};
  // The thread before has ended; assigning joins it.
  thread_ = std::jthread([this, work = std::move(work)](const std::stop_token& stop) {
    Result<void> outcome = work(stop);
    if (!outcome && outcome.error().code != Code::Interrupted) {
      base::log_error("answer", "re-encoding collection '{}': {}", rows_->name(),
                      outcome.error().message);
    }
    const std::lock_guard ended_lock(progress_mutex_);
    progress_.running = false;
    progress_.outcome = std::move(outcome);
    progress_.ended_us = base::system_clock().steady_us();
    ended_.notify_all();
  });
  return {};
}

Result<void> CollectionState::wait_background() {
  std::unique_lock lock(progress_mutex_);
  ended_.wait(lock, [this] { return !progress_.running; });
  return progress_.outcome;
}

void CollectionState::stop_background() {
  std::jthread thread;
  {
    const std::lock_guard lock(progress_mutex_);
    thread = std::move(thread_);
  }
  if (thread.joinable()) {
    thread.request_stop();
    thread.join();
  }
}

}  // namespace sibyl::answer::internal
