#pragma once

#include <cstddef>

namespace sibyl::train {

/// Learning rate over the steps of a stage: linear warm-up, then linear decay. Shortening it while
/// it runs (a time budget) keeps the rate without a jump. A value; part of checkpoints.
struct Schedule {
  double peak = 0;
  double final_share = 0;
  size_t warmup_steps = 0;
  size_t steps = 0;
  size_t decay_from = 0;       ///< step at which the present decay began
  double decay_from_rate = 0;  ///< rate there

  static Schedule make(double peak, double warmup_share, double final_share, size_t steps);
  /// Rate of step `step`, from 0.
  double rate(size_t step) const;
  /// Ends at `steps` (> `now`) instead, going on from the rate of step `now`.
  void shorten(size_t now, size_t steps_new);
};

}  // namespace sibyl::train
