#pragma once

#include <cstddef>
#include <cstdint>

// Kernels on AVX512_VPOPCNTDQ. Only where extensions().popcount; on other architectures they are
// never called.

namespace sibyl::simd::popcount {

void bit_distance_bytes(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                        size_t bytes, int32_t* out);
void bit_dot_bytes(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                   size_t bytes, int32_t* out);

}  // namespace sibyl::simd::popcount
