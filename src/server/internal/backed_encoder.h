#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "encoder/encoder.h"

namespace sibyl::server {

/// Opens the copy of a served model that this server has itself; an error when it is another model.
using CopyOpener = std::function<Result<std::shared_ptr<encoder::Encoder>>()>;

/// The encoder of a served model; while that cannot be asked, the copy of the same version stands
/// in, opened when it is first needed.
std::shared_ptr<encoder::Encoder> back_encoder(std::shared_ptr<encoder::Encoder> served,
                                               CopyOpener copy);

}  // namespace sibyl::server
