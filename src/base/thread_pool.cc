#include "base/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"

namespace sibyl::base {
namespace {

// One for_each call. Whoever has time takes the next index; the caller works too, so the call ends
// even when no thread of the pool is ever free. Helpers that come late find nothing left.
struct Loop {
  size_t count = 0;
  const std::function<void(size_t)>* work = nullptr;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::condition_variable ended;
  size_t done = 0;

  void run() {
    size_t mine = 0;
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      (*work)(i);
      ++mine;
    }
    if (mine > 0) {
      const std::lock_guard lock(mutex);
      done += mine;
      if (done == count) {
        ended.notify_all();
      }
    }
  }
};

}  // namespace

struct ThreadPool::State {
  size_t queue_max = 0;
  std::mutex mutex;
  std::condition_variable not_empty;
  std::condition_variable not_full;
  std::deque<std::function<void()>> queue;
  std::deque<std::shared_ptr<Loop>> loops;  // for_each calls that want help
  bool stopping = false;
  std::vector<std::jthread> threads;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      not_empty.wait(lock, [this] { return stopping || !queue.empty() || !loops.empty(); });
      if (!loops.empty()) {
        const std::shared_ptr<Loop> loop = loops.front();
        loops.pop_front();
        lock.unlock();
        loop->run();
        lock.lock();
      } else if (!queue.empty()) {
        const std::function<void()> task = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        not_full.notify_one();
        task();
        lock.lock();
      } else {
        return;
      }
    }
  }
};

ThreadPool::ThreadPool(size_t threads, size_t queue_max) : state_(std::make_unique<State>()) {
  check(threads >= 1 && queue_max >= 1, "a pool has a thread and room for a task");
  state_->queue_max = queue_max;
  for (size_t i = 0; i < threads; ++i) {
    state_->threads.emplace_back([state = state_.get()] { state->work(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->not_empty.notify_all();
  state_->threads.clear();
}

Result<void> ThreadPool::try_submit(std::function<void()> task) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->queue.size() >= state_->queue_max) {
      return fail(Code::ResourceExhausted, "{} tasks are waiting; try again later",
                  state_->queue.size());
    }
    state_->queue.push_back(std::move(task));
  }
  state_->not_empty.notify_one();
  return {};
}

void ThreadPool::submit(std::function<void()> task) {
  {
    std::unique_lock lock(state_->mutex);
    state_->not_full.wait(lock, [this] { return state_->queue.size() < state_->queue_max; });
    state_->queue.push_back(std::move(task));
  }
  state_->not_empty.notify_one();
}

void ThreadPool::for_each(size_t count, const std::function<void(size_t)>& work) {
  if (count == 0) {
    return;
  }
  const auto loop = std::make_shared<Loop>();
  loop->count = count;
  loop->work = &work;
  const size_t helpers = std::min(count - 1, threads());
  {
    const std::lock_guard lock(state_->mutex);
    state_->loops.insert(state_->loops.end(), helpers, loop);
  }
  for (size_t i = 0; i < helpers; ++i) {
    state_->not_empty.notify_one();
  }
  loop->run();
  {
    std::unique_lock lock(loop->mutex);
    loop->ended.wait(lock, [&] { return loop->done == count; });
  }
  // Invitations that nobody took would keep the queue long; a helper that took one holds a share.
  const std::lock_guard lock(state_->mutex);
  std::erase(state_->loops, loop);
}

size_t ThreadPool::threads() const {
  return state_->threads.size();
}

}  // namespace sibyl::base
