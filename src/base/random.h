#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace sibyl::base {

/// Small seeded generator (PCG-XSH-RR 64/32 of O'Neill 2014); the same seed gives the same numbers
/// on every machine, which the standard distributions do not promise. Not for secrets.
class Random {
 public:
  using result_type = uint32_t;
  explicit Random(uint64_t seed, uint64_t stream = 0);

  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return std::numeric_limits<uint32_t>::max(); }
  uint32_t operator()();

  uint64_t next_u64();
  /// Uniform in [0, bound); bound > 0.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1).
  double uniform();
  /// Normal with mean 0 and deviation 1 (Box-Muller).
  double normal();

  /// Generator state, so that an interrupted run goes on with the same numbers.
  struct State {
    uint64_t state = 0;
    uint64_t increment = 0;
  };
  State state() const;
  void restore(State state);

  /// Fisher-Yates, the same order on every machine for one seed.
  template <class Container>
  void shuffle(Container& items) {
    for (size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[below(i)]);
    }
  }

 private:
  uint64_t state_;
  uint64_t increment_;
};

/// `bytes` bytes from the operating system, as lower-case hexadecimal; for names and ids.
std::string random_hex(size_t bytes);

}  // namespace sibyl::base
