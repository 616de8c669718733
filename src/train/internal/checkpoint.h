#pragma once

#include <string>

#include "base/result.h"
#include "train/internal/network.h"
#include "train/internal/optimizer.h"
#include "train/internal/progress.h"

namespace sibyl::train {

/// Files of `checkpoints/` (docs/formats/checkpoint.md): `state.safetensors`, all that a run needs
/// to go on, and `best.safetensors`, the weights of the best epoch. Each is replaced atomically.
class Checkpoints {
 public:
  /// `fingerprint` tells jobs apart: a state of another job is not taken.
  Checkpoints(std::string folder, std::string fingerprint)
      : folder_(std::move(folder)), fingerprint_(std::move(fingerprint)) {}

  Result<void> save_state(Network& network, const AdamW& optimizer, const Progress& progress);
  /// Fills network and optimizer; false when there is no state of this job. DataLoss for a damaged
  /// file, with what to do.
  Result<bool> load_state(Network& network, AdamW& optimizer, Progress& progress);
  Result<void> save_best(Network& network);
  Result<void> load_best(Network& network);
  /// Vectors of the frozen start model, made once a stage: `name` such as "guide-labels".
  Result<void> save_tensor(const std::string& name, const at::Tensor& tensor);
  /// Undefined when it was not saved.
  Result<at::Tensor> load_tensor(const std::string& name);
  Result<void> remove_all();

 private:
  std::string path(std::string_view name) const;

  std::string folder_;
  std::string fingerprint_;
};

}  // namespace sibyl::train
