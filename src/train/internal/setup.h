#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/internal/device.h"
#include "train/internal/event_log.h"
#include "train/internal/network.h"
#include "train/internal/plan.h"
#include "train/internal/sampler.h"
#include "train/internal/stage_items.h"
#include "train/internal/validation.h"

namespace sibyl::train {

/// Everything that a run works on, as read from its workspace.
struct Setup {
  std::string workspace;
  std::string fingerprint;  ///< of the job and its data: a checkpoint of another is not taken
  TrainPlan plan;
  Dataset data;
  std::shared_ptr<const model::ModelDirectory> base;  ///< null for static models
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::string tokenizer_path;
  std::unique_ptr<Network> network;
  std::vector<StageItems> stages;  ///< by TrainPlan::stages
  std::optional<Validation> validation;
  BatchLimits batch_limits;
  MicroBatchLimits micro_limits;
  std::string device_text;
};

/// Reads job, base and data, chooses the device (said in `events` before anything else is done) and
/// makes the network.
Result<std::unique_ptr<Setup>> open_setup(const std::string& workspace, EventLog& events);

}  // namespace sibyl::train
