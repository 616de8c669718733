#include "train/internal/schedule.h"

#include <algorithm>
#include <cmath>

namespace sibyl::train {

Schedule Schedule::make(double peak, double warmup_share, double final_share, size_t steps) {
  Schedule out;
  out.peak = peak;
  out.final_share = final_share;
  out.steps = steps;
  out.warmup_steps = static_cast<size_t>(std::llround(warmup_share * static_cast<double>(steps)));
  out.decay_from = out.warmup_steps;
  out.decay_from_rate = peak;
  return out;
}

double Schedule::rate(size_t step) const {
  if (step < warmup_steps) {
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps + 1);
  }
  const double end = std::min(decay_from_rate, peak * final_share);
  if (steps <= decay_from) {
    return end;
  }
  const double gone = static_cast<double>(std::min(step, steps) - std::min(step, decay_from)) /
                      static_cast<double>(steps - decay_from);
  return decay_from_rate + (end - decay_from_rate) * gone;
}

void Schedule::shorten(size_t now, size_t steps_new) {
  const double rate_now = rate(now);
  if (now < warmup_steps) {
    // Still warming up: the climb ends here, at the rate that it has reached.
    warmup_steps = now;
  }
  decay_from = now;
  decay_from_rate = rate_now;
  steps = std::max(steps_new, now + 1);
}

}  // namespace sibyl::train
