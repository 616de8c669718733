#pragma once

#include <cstddef>
#include <cstdint>

// Kernels on AVX512_VNNI, which Highway 1.0.3 has no operation for. Only where extensions().vnni;
// on other architectures they are never called.

namespace sibyl::simd::vnni {

void byte_dot_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                   size_t dimension, int32_t* out);
void byte_dot_gather(const int8_t* query, const int8_t* const* rows, size_t count, size_t dimension,
                     int32_t* out);

/// `query` is [64 x blocks]; see nibble_dot_many.
void nibble_dot_blocks(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                       size_t blocks, int32_t* out);

}  // namespace sibyl::simd::vnni
