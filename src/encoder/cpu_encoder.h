#pragma once

#include <memory>
#include <string>

#include "encoder/encoder.h"
#include "model/model_directory.h"

namespace sibyl::encoder {

struct CpuEncoderOptions {
  size_t threads = 0;              ///< workers, one core each; 0: base::usable_cores()
  size_t batch_tokens = 2048;      ///< tokens a worker takes at once
  size_t queue_texts_max = 65536;  ///< waiting texts; more: the caller waits
  bool own_kernel = false;         ///< never oneDNN: what runs where its self-test fails
};

/// Runs a model directory in float32 on the CPU: no padding, one single-threaded worker a core.
/// Weights are shared by the workers. Fails when the model has a module that has no kernel.
Result<std::shared_ptr<Encoder>> open_cpu_encoder(
    std::shared_ptr<const model::ModelDirectory> model, const std::string& name,
    const CpuEncoderOptions& options);

}  // namespace sibyl::encoder
