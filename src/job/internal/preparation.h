#pragma once

#include <vector>

#include "job/internal/base_model.h"
#include "job/internal/defaults.h"
#include "job/internal/training_data.h"

namespace sibyl::job::internal {

/// All that `prepare` decides, before anything is written.
struct Preparation {
  BaseModel base;
  TrainingData data;
  std::vector<ChosenParameter> parameters;
};

Result<Preparation> prepare(const JobFile& job, const StepContext& context);

}  // namespace sibyl::job::internal
