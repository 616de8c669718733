#include "index/internal/bit_packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace sibyl::index {
namespace {

uint64_t load(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

/// Eight numbers take whole bytes, so places and shifts within them are constants.
template <unsigned kBits>
void unpack_eight(const char* bytes, uint32_t* out) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  [&]<size_t... kNumber>(std::index_sequence<kNumber...>) {
    ((out[kNumber] = static_cast<uint32_t>(
          load(bytes + kNumber * kBits / 8) >> (kNumber * kBits % 8) & kMask)),
     ...);
  }(std::make_index_sequence<8>());
}

template <unsigned kBits>
void unpack(const char* bytes, std::span<uint32_t> out) {
  const size_t whole = out.size() / 8 * 8;
  for (size_t i = 0; i < whole; i += 8) {
    unpack_eight<kBits>(bytes + i * kBits / 8, out.data() + i);
  }
  if (whole < out.size()) {
    // The last numbers one by one: their bytes and the pad are all that may be read.
    constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
    for (size_t i = whole; i < out.size(); ++i) {
      out[i] = static_cast<uint32_t>(load(bytes + i * kBits / 8) >> (i * kBits % 8) & kMask);
    }
  }
}

using Unpack = void (*)(const char*, std::span<uint32_t>);

template <unsigned... kBits>
constexpr std::array<Unpack, sizeof...(kBits)> make_table(
    std::integer_sequence<unsigned, kBits...>) {
  return {&unpack<kBits>...};
}

constexpr std::array<Unpack, 33> kUnpack = make_table(std::make_integer_sequence<unsigned, 33>());

}  // namespace

unsigned bits_of(uint32_t value) {
  return static_cast<unsigned>(std::bit_width(value));
}

void pack_bits(std::span<const uint32_t> values, unsigned bits, std::string& out) {
  uint64_t waiting = 0;
  unsigned filled = 0;
  for (const uint32_t value : values) {
    waiting |= uint64_t{value} << filled;
    for (filled += bits; filled >= 8; filled -= 8) {
      out.push_back(static_cast<char>(waiting & 0xFF));
      waiting >>= 8;
    }
  }
  if (filled > 0) {
    out.push_back(static_cast<char>(waiting));
  }
}

uint32_t unpack_one(const char* bytes, unsigned bits, size_t place) {
  const size_t bit = place * bits;
  return static_cast<uint32_t>(load(bytes + bit / 8) >> (bit % 8) & ((uint64_t{1} << bits) - 1));
}

void unpack_bits(const char* bytes, unsigned bits, std::span<uint32_t> out) {
  if (bits == 0) {
    std::fill(out.begin(), out.end(), 0);
    return;
  }
  kUnpack[std::min(bits, 32U)](bytes, out);
}

}  // namespace sibyl::index
