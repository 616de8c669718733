#pragma once

#include <bit>
#include <cstdint>

namespace sibyl::model {

/// IEEE 754 binary16 to float32, exactly; subnormals, infinities and NaN included.
inline float float_from_f16(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1FU;
  const uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/// bfloat16 (the upper half of a float32) to float32, exactly.
inline float float_from_bf16(uint16_t upper) {
  return std::bit_cast<float>(static_cast<uint32_t>(upper) << 16);
}

}  // namespace sibyl::model
