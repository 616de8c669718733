#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sibyl::index {

/// Numbers in a fixed count of bits each, one after the other, lowest bit first; filled up to a
/// whole byte. A reader may look at up to 8 bytes past the last one.
inline constexpr size_t kBitPackingPad = 8;

/// Bits that hold `value`, 0 for 0.
unsigned bits_of(uint32_t value);
/// Bytes of `count` numbers of `bits` bits.
constexpr size_t packed_bytes(size_t count, unsigned bits) {
  return (count * bits + 7) / 8;
}
void pack_bits(std::span<const uint32_t> values, unsigned bits, std::string& out);
/// `bits` is at most 32. Reads packed_bytes() + kBitPackingPad bytes at most.
void unpack_bits(const char* bytes, unsigned bits, std::span<uint32_t> out);
/// The number at one place.
uint32_t unpack_one(const char* bytes, unsigned bits, size_t place);

}  // namespace sibyl::index
