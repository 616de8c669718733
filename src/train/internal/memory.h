#pragma once

#include <cstdint>

namespace sibyl::train {

/// Bytes that this process may still take: the machine's available memory or what the control group
/// leaves, whichever is less.
uint64_t available_memory_bytes();

}  // namespace sibyl::train
