#include "base/random.h"

#include <cmath>
#include <numbers>

#include <sys/random.h>

#include "base/bytes.h"
#include "base/check.h"

namespace sibyl::base {

Random::Random(uint64_t seed, uint64_t stream) : state_(0), increment_((stream << 1) | 1) {
  (*this)();
  state_ += seed;
  (*this)();
}

uint32_t Random::operator()() {
  const uint64_t old = state_;
  state_ = old * 6364136223846793005ULL + increment_;
  const auto shifted = static_cast<uint32_t>(((old >> 18) ^ old) >> 27);
  const auto turn = static_cast<uint32_t>(old >> 59);
  return (shifted >> turn) | (shifted << ((32 - turn) & 31));
}

uint64_t Random::next_u64() {
  const uint64_t high = (*this)();
  return (high << 32) | (*this)();
}

uint64_t Random::below(uint64_t bound) {
  check(bound > 0, "Random::below needs a bound above 0");
  const uint64_t threshold = (0 - bound) % bound;  // rejects the uneven rest
  for (;;) {
    const uint64_t value = next_u64();
    if (value >= threshold) {
      return value % bound;
    }
  }
}

double Random::uniform() {
  return static_cast<double>(next_u64() >> 11) * 0x1.0p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Random::State Random::state() const {
  return {state_, increment_};
}
void Random::restore(State state) {
  state_ = state.state;
  increment_ = state.increment | 1;
}

std::string random_hex(size_t bytes) {
  std::string raw(bytes, '\0');
  size_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = ::getrandom(raw.data() + filled, bytes - filled, 0);
    check(got > 0 || errno == EINTR, "the system gives random bytes");
    filled += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return to_hex(raw);
}

}  // namespace sibyl::base
