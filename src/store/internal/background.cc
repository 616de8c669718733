#include "store/internal/background.h"

#include <algorithm>
#include <system_error>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

namespace sibyl::store {
namespace {

/// A processor that a question shares with them is its own but for one part in seventy.
constexpr int kNice = 19;
constexpr size_t kDroppedMax = 256;

/// Queries go first: the scheduler takes this thread for one that computes, and weighs it lower.
/// Threads that it starts inherit both. Where the system forbids it, work goes on as it is.
void lower_priority() {
  const sched_param parameters{};
  static_cast<void>(::sched_setscheduler(0, SCHED_BATCH, &parameters));
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice));
}

}  // namespace

void run_below_queries(const std::function<void()>& work) {
  std::jthread thread;
  try {
    thread = std::jthread([&work] {
      lower_priority();
      work();
    });
  } catch (const std::system_error&) {  // no thread to be had
    work();
  }
}

BackgroundWork::BackgroundWork(unsigned threads, const StartThread& start) {
  try {
    for (unsigned i = 0; threads > 0 && i <= threads; ++i) {
      const WorkKind kind = i == 0 ? WorkKind::Seal : WorkKind::Maintain;
      threads_.push_back(start([this, kind] { serve(kind); }));
    }
  } catch (const std::system_error& error) {
    // Writers seal for themselves where they must.
    base::log_error("store", "{} of {} background threads could be started: {}", threads_.size(),
                    threads + 1, error.what());
    const std::lock_guard lock(mutex_);
    alone_ = threads_.size() == 1;
    changed_.notify_all();
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

BackgroundWork::Entries::iterator BackgroundWork::find_first() {
  const auto next = find_waiting(WorkKind::Seal);
  return next != waiting_.end() ? next : find_waiting(WorkKind::Maintain);
}

bool BackgroundWork::run_one() {
  std::unique_lock lock(mutex_);
  const auto next = find_first();
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

void BackgroundWork::drop_later(std::shared_ptr<const void> last) {
  const std::lock_guard lock(mutex_);
  if (!stopped_ && !threads_.empty() && dropped_.size() < kDroppedMax) {
    dropped_.push_back(std::move(last));
    changed_.notify_all();
  }
}

void BackgroundWork::stop() {
  std::vector<std::shared_ptr<const void>> dropped;  // goes after the lock
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(dropped_);
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
  const bool drops = kind == WorkKind::Seal;
  const auto find = [&] { return drops && alone_ ? find_first() : find_waiting(kind); };
  while (true) {
    changed_.wait(
        lock, [&] { return stopped_ || (drops && !dropped_.empty()) || find() != waiting_.end(); });
    if (stopped_) {
      return;
    }
    if (drops && !dropped_.empty()) {
      std::vector<std::shared_ptr<const void>> dropped;
      dropped.swap(dropped_);
      lock.unlock();
      dropped.clear();
      lock.lock();
      continue;
    }
    run(lock, take(find()));
  }
}

}  // namespace sibyl::store
