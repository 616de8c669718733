#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/internal/schedule.h"

namespace sibyl::train {

struct EpochRecord {
  std::string stage;
  size_t epoch = 0;  ///< 0: before the first step
  double loss = 0;
  double ndcg_at_10 = -1;  ///< -1: not validated
};

/// How far a run is, apart from tensors. Together with them it decides everything that follows:
/// batches, dropout and schedule are functions of it and the job.
struct Progress {
  size_t stage = 0;  ///< index into TrainPlan::stages
  bool stage_open = false;
  size_t epoch = 0;  ///< running, from 0
  size_t batch = 0;  ///< next of the epoch
  size_t step = 0;   ///< done in this stage
  int64_t optimizer_steps = 0;
  Schedule schedule;
  int64_t validated_step = -1;  ///< last step of the stage that was validated
  size_t stale_epochs = 0;      ///< validated without a better figure
  bool cached_gradients = false;
  bool validates = false;
  bool first_validation = false;  ///< of the start model, due or done
  bool epoch_open = false;
  std::vector<size_t> planned_steps;  ///< by stage
  std::vector<double> deadlines_s;    ///< by stage, of `seconds`; 0: none
  double loss_sum = 0;                ///< of the running epoch
  size_t loss_steps = 0;
  double best = -1;
  double best_before_epoch = -1;
  size_t best_record = 0;  ///< index into `epochs`
  std::vector<EpochRecord> epochs;
  double seconds = 0;             ///< of work, over all starts
  double train_seconds = 0;       ///< in training steps alone
  double validation_seconds = 0;  ///< in validation alone
  size_t pairs = 0;               ///< question uses trained on
  size_t stage_pairs = 0;         ///< of this stage
};

std::string progress_to_json(const Progress& progress);
Result<Progress> progress_from_json(std::string_view json);

}  // namespace sibyl::train
