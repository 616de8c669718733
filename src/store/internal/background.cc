#include "store/internal/background.h"

#include <algorithm>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sibyl::store {
namespace {

constexpr int kNice = 10;

/// Queries go first: the scheduler takes this thread for one that computes, and weighs it lower.
/// Threads that it starts inherit both. Where the system forbids it, work goes on as it is.
void lower_priority() {
  const sched_param parameters{};
  static_cast<void>(::sched_setscheduler(0, SCHED_BATCH, &parameters));
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice));
}

}  // namespace

void run_below_queries(const std::function<void()>& work) {
  std::jthread([&work] {
    lower_priority();
    work();
  }).join();
}

BackgroundWork::BackgroundWork(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { serve(WorkKind::Maintain); });
  }
  if (threads > 0) {
    threads_.emplace_back([this] { serve(WorkKind::Seal); });
  }
}

void BackgroundWork::wake(WorkKind kind, const std::shared_ptr<Worker>& worker) {
  const std::lock_guard lock(mutex_);
  if (stopped_) {
    return;
  }
  const Entry entry{kind, worker, false};
  const auto is_same = [&](const Entry& other) { return same(entry, other); };
  if (const auto at = std::find_if(running_.begin(), running_.end(), is_same);
      at != running_.end()) {
    at->again = true;
    return;
  }
  if (std::none_of(waiting_.begin(), waiting_.end(), is_same)) {
    waiting_.push_back(entry);
    changed_.notify_all();
  }
}

BackgroundWork::Entries::iterator BackgroundWork::find_waiting(WorkKind kind) {
  return std::find_if(waiting_.begin(), waiting_.end(),
                      [kind](const Entry& entry) { return entry.kind == kind; });
}

BackgroundWork::Entries::iterator BackgroundWork::take(Entries::iterator next) {
  running_.splice(running_.end(), waiting_, next);
  return next;
}

void BackgroundWork::run(std::unique_lock<std::mutex>& lock, Entries::iterator entry) {
  bool more = false;
  lock.unlock();
  {
    const std::shared_ptr<Worker> worker = entry->worker.lock();
    more = worker != nullptr && worker->work(entry->kind, stop_.get_token());
  }
  lock.lock();
  if ((more || entry->again) && !stopped_) {
    entry->again = false;
    waiting_.splice(waiting_.end(), running_, entry);
  } else {
    running_.erase(entry);
  }
  changed_.notify_all();
}

bool BackgroundWork::run_one() {
  std::unique_lock lock(mutex_);
  auto next = find_waiting(WorkKind::Seal);
  if (next == waiting_.end()) {
    next = find_waiting(WorkKind::Maintain);
  }
  if (next == waiting_.end()) {
    return false;
  }
  run(lock, take(next));
  return true;
}

void BackgroundWork::settle() {
  if (threads_.empty()) {
    while (run_one()) {
    }
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped_ || (waiting_.empty() && running_.empty()); });
}

void BackgroundWork::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
  }
  stop_.request_stop();
  changed_.notify_all();
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) {
      thread.join();
    }
  }
}

void BackgroundWork::serve(WorkKind kind) {
  lower_priority();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || find_waiting(kind) != waiting_.end(); });
    if (stopped_) {
      return;
    }
    run(lock, take(find_waiting(kind)));
  }
}

}  // namespace sibyl::store
