#pragma once

#include <memory>

#include "encoder/encoder.h"

namespace sibyl::server {

/// The same encoder, counting texts, tokens, texts that were cut and seconds as metrics.
std::shared_ptr<encoder::Encoder> meter_encoder(std::shared_ptr<encoder::Encoder> encoder);

}  // namespace sibyl::server
