#pragma once

#include <memory>
#include <string>

#include "encoder/cpu_encoder.h"

namespace sibyl::encoder {

/// `model`'s first module is a transformer, its second a pooling.
Result<std::shared_ptr<Encoder>> open_transformer_encoder(
    std::shared_ptr<const model::ModelDirectory> model, EncoderInfo info,
    const CpuEncoderOptions& options);

/// `model`'s first module is a table of static embeddings.
Result<std::shared_ptr<Encoder>> open_static_encoder(
    std::shared_ptr<const model::ModelDirectory> model, EncoderInfo info,
    const CpuEncoderOptions& options);

}  // namespace sibyl::encoder
