#include "encoder/internal/circuit_breaker.h"

#include <algorithm>

namespace sibyl::encoder {

bool CircuitBreaker::admit() {
  const std::lock_guard lock(mutex_);
  if (!open_) {
    return true;
  }
  if (trying_ || clock_.steady_us() < until_us_) {
    return false;
  }
  trying_ = true;
  return true;
}

void CircuitBreaker::succeed() {
  const std::lock_guard lock(mutex_);
  failures_ = 0;
  open_ = false;
  trying_ = false;
  open_for_us_ = 0;
}

void CircuitBreaker::fail() {
  const std::lock_guard lock(mutex_);
  if (open_ && !trying_) {
    return;  // a call that was on its way when the circuit opened
  }
  ++failures_;
  if (!open_ && failures_ < limits_.failures) {
    return;
  }
  open_ = true;
  trying_ = false;
  open_for_us_ =
      open_for_us_ == 0 ? limits_.open_us : std::min(2 * open_for_us_, limits_.open_max_us);
  until_us_ = clock_.steady_us() + open_for_us_;
}

void CircuitBreaker::give_up() {
  const std::lock_guard lock(mutex_);
  trying_ = false;
}

bool CircuitBreaker::is_open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

int64_t CircuitBreaker::remaining_us() const {
  const std::lock_guard lock(mutex_);
  return open_ ? std::max<int64_t>(until_us_ - clock_.steady_us(), 0) : 0;
}

}  // namespace sibyl::encoder
