#pragma once

#include <cstdint>
#include <mutex>

#include "base/clock.h"

namespace sibyl::encoder {

/// Stops calls to a server that failed `failures` times in a row. After the open time one call is
/// let through: its success closes the circuit, its failure opens it for twice as long. (Nygard,
/// Release It!, 2007.) Thread-safe; time is the given clock's alone.
class CircuitBreaker {
 public:
  struct Limits {
    int failures = 5;
    int64_t open_us = 1'000'000;
    int64_t open_max_us = 30'000'000;
  };
  CircuitBreaker(Limits limits, const base::Clock& clock) : limits_(limits), clock_(clock) {}

  /// Whether a call may be made now; exactly one of the three below must follow.
  bool admit();
  void succeed();
  void fail();
  /// The call was stopped and says nothing about the server.
  void give_up();

  bool is_open() const;
  /// Until a call will be let through; 0 when one may be made now.
  int64_t remaining_us() const;

 private:
  const Limits limits_;
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  int failures_ = 0;  ///< in a row
  bool open_ = false;
  bool trying_ = false;  ///< the one call after the open time is on its way
  int64_t open_for_us_ = 0;
  int64_t until_us_ = 0;
};

}  // namespace sibyl::encoder
