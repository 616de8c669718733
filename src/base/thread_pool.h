#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/result.h"

namespace sibyl::base {

/// Fixed number of threads with a bounded queue of tasks. Thread-safe. Tasks must not throw.
class ThreadPool {
 public:
  /// threads >= 1; queue_max tasks may wait.
  ThreadPool(size_t threads, size_t queue_max);
  /// Runs what is queued, then joins.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// ResourceExhausted when the queue is full.
  Result<void> try_submit(std::function<void()> task);
  /// Waits for room in the queue.
  void submit(std::function<void()> task);
  /// Calls work(i) for i in [0, count) on the pool and the calling thread; returns when all ended.
  /// May be called from a task of the pool.
  void for_each(size_t count, const std::function<void(size_t)>& work);
  size_t threads() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Cores this process may run on (affinity and cgroup quota), at least 1.
size_t usable_cores();

}  // namespace sibyl::base
