#pragma once

#include <string>

#include "base/result.h"
#include "model/model_directory.h"
#include "train/internal/network.h"
#include "train/internal/plan.h"

namespace sibyl::train {

struct ExportSource {
  const model::ModelDirectory* base = nullptr;  ///< transformers: what training started from
  std::string base_folder;                      ///< its folder; empty for static models
  std::string tokenizer_path;                   ///< tokenizer.json
};

/// Writes the network as `folder`, a model directory, replacing an older one.
Result<void> export_model(const std::string& folder, Network& network, const TrainPlan& plan,
                          const ExportSource& source, const model::Provenance& provenance);

}  // namespace sibyl::train
