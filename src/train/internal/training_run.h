#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "train/internal/checkpoint.h"
#include "train/internal/event_log.h"
#include "train/internal/gradient_step.h"
#include "train/internal/optimizer.h"
#include "train/internal/progress.h"
#include "train/internal/setup.h"

namespace sibyl::train {

/// One job's training from its checkpoint (or from nothing) to the best weights. Externally
/// synchronised. Whatever the moment of an interruption, the weights that come out are the same:
/// batches and dropout are functions of seed and progress, and a step that was cut short is
/// repeated.
class TrainingRun {
 public:
  TrainingRun(Setup& setup, EventLog& events, std::stop_token stop);

  /// Interrupted with the state saved when `stop` was requested. Afterwards the network holds the
  /// best weights.
  Result<void> run();
  const Progress& progress() const { return progress_; }
  Result<void> remove_checkpoints() { return checkpoints_.remove_all(); }

 private:
  Result<void> begin();
  Result<void> plan_steps();
  Result<void> run_stage();
  Result<void> open_stage();
  Result<void> close_stage();
  Result<void> prepare_guide();
  Result<void> run_epoch();
  Result<void> run_batch(const Batch& batch);
  Result<void> close_epoch();
  /// Measures nDCG@10 and keeps the weights when they are the best so far.
  Result<void> validate(size_t epoch);
  Result<void> keep_budget();
  Result<void> report_progress(bool always);
  Result<void> save_when_due();
  /// Saves the state and returns Interrupted.
  tl::unexpected<Error> interrupted();

  Stage stage() const { return setup_.plan.stages[progress_.stage]; }
  const StageItems& items() const { return setup_.stages[progress_.stage]; }
  double seconds() const;

  Setup& setup_;
  EventLog& events_;
  std::stop_token stop_;
  Checkpoints checkpoints_;
  std::optional<AdamW> optimizer_;
  Progress progress_;
  StepOptions options_;
  std::optional<Guide> guide_;
  double started_s_ = 0;       ///< clock at the start of this process's work
  double seconds_before_ = 0;  ///< of earlier starts
  double saved_s_ = 0;         ///< clock at the last checkpoint
  double reported_s_ = 0;
  double process_step_seconds_ = 0;  ///< of steps in this process and stage
  size_t process_steps_ = 0;
  size_t process_pairs_ = 0;
  double last_loss_ = 0;
  bool said_shrunk_ = false;
};

}  // namespace sibyl::train
