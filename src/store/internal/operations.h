#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "store/collection.h"

namespace sibyl::store {

/// The long operations of one collection: one runs at a time, says how far it is, and ends when it
/// is cancelled. Thread-safe.
class Operations {
 public:
  class Running;

  /// Waits for its turn; what runs in the background is asked to give way. `progress` may be empty.
  std::unique_ptr<Running> begin(std::string name, const std::stop_token& stop, Progress progress);
  /// For the background: null while another one runs or waits.
  std::unique_ptr<Running> try_begin(const std::stop_token& stop);

  std::optional<OperationProgress> running() const;
  /// Asks the one that runs to end; false when none does.
  bool cancel();

 private:
  friend class Running;
  std::mutex turn_;  ///< held by the one that runs
  mutable std::mutex mutex_;
  size_t waiting_ = 0;                        ///< guarded by mutex_
  std::optional<OperationProgress> running_;  ///< guarded by mutex_
  std::stop_source stop_;                     ///< of the running one; guarded by mutex_
};

/// An operation that runs until this is gone; stays with its thread.
class Operations::Running {
 public:
  Running(Operations& owner, std::unique_lock<std::mutex> turn, OperationProgress about,
          const std::stop_token& stop, Progress progress);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Requested by the caller, by `cancel`, or by an operation that goes first.
  const std::stop_token& stop() const { return stop_; }
  bool stopped() const { return stop_.stop_requested(); }
  void report(uint64_t done, uint64_t total);
  void rename(std::string name);

 private:
  Operations& owner_;
  std::unique_lock<std::mutex> turn_;
  std::stop_source source_;
  std::stop_token stop_;
  std::stop_callback<std::function<void()>> callers_;
  const Progress progress_;
};

}  // namespace sibyl::store
