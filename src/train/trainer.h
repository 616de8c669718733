#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"

namespace sibyl::train {

/// Opens LibTorch's GPU library when it is there, and chooses processor kernels and allocator
/// settings. First thing in `main`, before threads and before anything else of this room: LibTorch
/// looks for a GPU once.
void open_device_libraries();

/// The training step: reads WORKSPACE/job.json and data/, writes checkpoints/, model/, report/ and
/// events.jsonl (docs/formats/workspace.md). Interrupted after a checkpoint when `stop` is
/// requested; run again, it goes on and ends with the same metric. Nothing of LibTorch is thrown.
Result<void> run_training(const std::string& workspace, std::stop_token stop);

/// `0.1.0 (LibTorch 2.15.0, AVX-512 kernels)`.
std::string version_text();

}  // namespace sibyl::train
