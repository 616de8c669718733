#pragma once

#include <cstddef>

#include "model/model_directory.h"

namespace sibyl::encoder {

/// One vector from the token vectors [tokens x width] of a text, special tokens among them; `out`
/// holds modes x width floats. The first `skipped` tokens (a prompt's) do not count, unless nothing
/// would be left.
void pool_tokens(const model::PoolingModule& pooling, const float* tokens, size_t count,
                 size_t width, size_t skipped, float* out);

}  // namespace sibyl::encoder
