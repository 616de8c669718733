#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"

namespace sibyl::train {

/// The training step: reads WORKSPACE/job.json and data/, writes checkpoints/, model/, report/ and
/// events.jsonl (docs/formats/workspace.md). Interrupted after a checkpoint when `stop` is requested;
/// run again, it goes on and ends with the same metric.
Result<void> run_training(const std::string& workspace, std::stop_token stop);

}  // namespace sibyl::train
