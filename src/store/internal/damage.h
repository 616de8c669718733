#pragma once

#include <atomic>
#include <mutex>

#include "base/result.h"

namespace sibyl::store {

/// Damage of a primary file that was found after it was opened. All snapshots of a collection share
/// it: from then on they refuse to answer from what is not whole. Thread-safe.
class Damage {
 public:
  void set(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!found_) {
      error_ = error;
      found_ = true;
    }
  }
  Result<void> check() const {
    if (!found_) {
      return {};
    }
    const std::lock_guard lock(mutex_);
    return tl::unexpected<Error>(error_);
  }

 private:
  std::atomic<bool> found_ = false;
  mutable std::mutex mutex_;
  Error error_;  ///< guarded by mutex_
};

}  // namespace sibyl::store
