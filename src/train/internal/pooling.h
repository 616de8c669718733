#pragma once

#include <vector>

#include "model/model_directory.h"
#include "train/internal/micro_batch.h"
#include "train/internal/torch.h"

namespace sibyl::train {

/// [sequences x modes·width] from [tokens x width], every mode of sentence-transformers' Pooling.
at::Tensor pool(const at::Tensor& tokens, const MicroBatch& batch,
                const std::vector<model::PoolingMode>& modes);

}  // namespace sibyl::train
