#pragma once

#include "job/internal/training_data.h"
#include "job/workspace.h"

namespace sibyl::job::internal {

/// Writes `data/` (docs/formats/workspace.md) and adds the files' SHA-256 to the statistics.
Result<void> write_training_data(const TrainingData& data, const Workspace& workspace);

}  // namespace sibyl::job::internal
