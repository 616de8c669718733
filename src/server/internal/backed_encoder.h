#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "encoder/encoder.h"

namespace sibyl::server {

/// Opens the copy of a served model that this server has itself.
using CopyOpener = std::function<Result<std::shared_ptr<encoder::Encoder>>()>;

/// The encoder of a served model; while that cannot be asked, the copy of the same version stands
/// in, opened when it is first needed. `sample` is the served model's vector of
/// encoder::kSampleText: a model that merely has the same name and version gives another one and is
/// not used.
std::shared_ptr<encoder::Encoder> back_encoder(std::shared_ptr<encoder::Encoder> served,
                                               std::vector<float> sample, CopyOpener copy);

}  // namespace sibyl::server
