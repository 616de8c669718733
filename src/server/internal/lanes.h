#pragma once

#include <cstddef>

namespace sibyl::server {

/// Large bodies of texts are long work; a few texts are somebody's question.
inline constexpr size_t kQuickTextBytesMax = 16384;

}  // namespace sibyl::server
