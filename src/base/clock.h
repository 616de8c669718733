#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sibyl::base {

/// Where time comes from, so that tests can stop it. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Microseconds since 1970-01-01 UTC.
  virtual int64_t now_us() const = 0;
  /// Monotonic microseconds, for durations.
  virtual int64_t steady_us() const = 0;
};

/// The machine's clock.
const Clock& system_clock();

/// `2026-11-30T15:04:05.123Z`.
std::string format_time(int64_t now_us);

}  // namespace sibyl::base
