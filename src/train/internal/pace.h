#pragma once

#include "train/internal/budget.h"
#include "train/internal/gradient_step.h"
#include "train/internal/optimizer.h"
#include "train/internal/setup.h"

namespace sibyl::train {

/// Seconds a token, measured on this machine before the first step.
struct Pace {
  double train_s = 0;
  double encode_s = 0;
};

/// Trains on a part of the first batch without changing any weight. Takes a second or two.
Pace measure_pace(Setup& setup, AdamW& optimizer, const StepOptions& options);

/// Steps and cost of every stage as the job plans them; seconds only where `pace` is known.
Cost planned_cost(const Setup& setup, const Pace& pace);

/// Whether a step's graph fits into memory at once, at the largest batch of the first epochs.
bool needs_cached_gradients(const Setup& setup);

}  // namespace sibyl::train
