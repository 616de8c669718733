#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace sibyl::store {

/// Runs `work` in a thread of its own below those of queries in priority, and waits for it: for
/// long work that a caller asked for.
void run_below_queries(const std::function<void()>& work);

/// What a collection may have to do apart from its callers.
enum class WorkKind {
  Seal,     ///< writers wait for it sooner or later
  Maintain  ///< merges and index builds, that may take an hour
};

/// Someone with work of a kind.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Does a piece of it; true when there is more now.
  virtual bool work(WorkKind kind, std::stop_token stop) = 0;
};

/// The background of a database: one thread for seals and a few for the rest, below the threads of
/// queries in priority. At most one entry a worker and kind waits, so the queue is as long as there
/// are collections. Thread-safe.
class BackgroundWork {
 public:
  /// Starts a thread that runs what it is given; std::system_error when there is none to be had.
  using StartThread = std::function<std::jthread(std::function<void()>)>;

  /// With 0 threads nothing runs but by `run_one` and `settle`. Where only some threads can be
  /// started these do all the work, and where none can it is as with 0.
  explicit BackgroundWork(unsigned threads, const StartThread& start = start_thread);
  ~BackgroundWork() { stop(); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// Says that there is work. Nothing after `stop`.
  void wake(WorkKind kind, const std::shared_ptr<Worker>& worker);
  /// Runs one waiting piece in the calling thread, seals first; false when none waits.
  bool run_one();
  /// Returns when nothing waits and nothing runs. Without threads it runs what waits.
  void settle();
  /// Lets go of something large in the background, which its last holder, a reader, would wait
  /// for. Where nothing runs in the background, at the end of the call.
  void drop_later(std::shared_ptr<const void> last);
  /// Asks running pieces to end, waits for them, and drops what waits.
  void stop();

 private:
  struct Entry {
    WorkKind kind = WorkKind::Seal;
    std::weak_ptr<Worker> worker;
    bool again = false;  ///< woken while it ran
    friend bool same(const Entry& a, const Entry& b) {
      return a.kind == b.kind && !a.worker.owner_before(b.worker) &&
             !b.worker.owner_before(a.worker);
    }
  };
  using Entries = std::list<Entry>;

  /// The next entry of the kind to run; moves it to the running ones. The lock is held.
  Entries::iterator take(Entries::iterator next);
  Entries::iterator find_waiting(WorkKind kind);
  /// Seals first.
  Entries::iterator find_first();
  /// Runs a taken entry without the lock.
  void run(std::unique_lock<std::mutex>& lock, Entries::iterator entry);
  static std::jthread start_thread(std::function<void()> work) {
    return std::jthread(std::move(work));
  }
  void serve(WorkKind kind);

  std::mutex mutex_;
  std::condition_variable changed_;
  Entries waiting_;                                   ///< guarded by mutex_
  Entries running_;                                   ///< guarded by mutex_
  std::vector<std::shared_ptr<const void>> dropped_;  ///< guarded by mutex_
  bool stopped_ = false;
  bool alone_ = false;  ///< The thread for seals does the rest as well; guarded by mutex_.
  std::stop_source stop_;
  std::vector<std::jthread> threads_;
};

}  // namespace sibyl::store
