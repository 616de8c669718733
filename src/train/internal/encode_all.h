#pragma once

#include <optional>
#include <stop_token>

#include "train/internal/network.h"
#include "train/internal/token_table.h"
#include "train/internal/torch.h"

namespace sibyl::train {

/// [texts x dimension] unit vectors on the processor, without gradients or dropout. Empty when
/// `stop` was requested meanwhile.
std::optional<at::Tensor> encode_all(Network& network, const TokenTable& texts,
                                     const MicroBatchLimits& limits, const std::stop_token& stop);

}  // namespace sibyl::train
