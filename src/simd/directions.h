#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::simd {

/// Directions that a point's place is given along.
inline constexpr size_t kDirections = 8;

/// codes[i], bit b: whether others[i * kDirections + b] > origin[b], on which side of the origin a
/// point lies along each direction; never so for NaN. Thread-safe.
void direction_codes(const float* origin, const float* others, size_t count, uint8_t* codes);

}  // namespace sibyl::simd
