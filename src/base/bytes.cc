#include "base/bytes.h"

#include <array>
#include <bit>

#include <zlib.h>

namespace sibyl::base {
namespace {

static_assert(std::endian::native == std::endian::little, "file formats are little-endian");

template <class T>
void put_plain(std::string& out, T value) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.append(bytes.data(), bytes.size());
}

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

}  // namespace

void put_u32(std::string& out, uint32_t value) {
  put_plain(out, value);
}
void put_u64(std::string& out, uint64_t value) {
  put_plain(out, value);
}
void put_f32(std::string& out, float value) {
  put_plain(out, value);
}

void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out.append(text);
}

std::string_view ByteReader::take(size_t count) {
  if (!ok_ || count > left()) {
    ok_ = false;
    return {};
  }
  const std::string_view taken = bytes_.substr(position_, count);
  position_ += count;
  return taken;
}

uint8_t ByteReader::u8() {
  const std::string_view taken = take(1);
  return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
}
uint32_t ByteReader::u32() {
  const std::string_view taken = take(sizeof(uint32_t));
  return taken.empty() ? 0 : load<uint32_t>(taken.data());
}
uint64_t ByteReader::u64() {
  const std::string_view taken = take(sizeof(uint64_t));
  return taken.empty() ? 0 : load<uint64_t>(taken.data());
}
float ByteReader::f32() {
  const std::string_view taken = take(sizeof(float));
  return taken.empty() ? 0.0F : load<float>(taken.data());
}

uint64_t ByteReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = u8();
    if (!ok_) {
      return 0;
    }
    if (shift == 63 && byte > 1) {
      break;  // more than 64 bits
    }
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) {
      return value;
    }
  }
  ok_ = false;
  return 0;
}

std::string_view ByteReader::text() {
  const uint64_t length = varint();
  if (!ok_ || length > left()) {
    ok_ = false;
    return {};
  }
  return take(static_cast<size_t>(length));
}

uint32_t crc32(std::string_view bytes, uint32_t seed) {
  return static_cast<uint32_t>(
      ::crc32_z(seed, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87ULL;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FULL;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9ULL;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63ULL;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5ULL;

uint64_t hash_round(uint64_t accumulator, uint64_t input) {
  return std::rotl(accumulator + input * kPrime2, 31) * kPrime1;
}
uint64_t hash_merge(uint64_t hash, uint64_t accumulator) {
  return (hash ^ hash_round(0, accumulator)) * kPrime1 + kPrime4;
}

uint64_t hash_stripes(const char*& at, const char* end, uint64_t seed) {
  uint64_t a = seed + kPrime1 + kPrime2;
  uint64_t b = seed + kPrime2;
  uint64_t c = seed;
  uint64_t d = seed - kPrime1;
  for (; end - at >= 32; at += 32) {
    a = hash_round(a, load<uint64_t>(at));
    b = hash_round(b, load<uint64_t>(at + 8));
    c = hash_round(c, load<uint64_t>(at + 16));
    d = hash_round(d, load<uint64_t>(at + 24));
  }
  uint64_t hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  hash = hash_merge(hash, a);
  hash = hash_merge(hash, b);
  hash = hash_merge(hash, c);
  return hash_merge(hash, d);
}

}  // namespace

uint64_t hash64(std::string_view bytes, uint64_t seed) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  uint64_t hash = bytes.size() >= 32 ? hash_stripes(at, end, seed) : seed + kPrime5;
  hash += bytes.size();
  for (; end - at >= 8; at += 8) {
    hash = std::rotl(hash ^ hash_round(0, load<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (end - at >= 4) {
    hash = std::rotl(hash ^ (load<uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < end; ++at) {
    hash = std::rotl(hash ^ (static_cast<uint8_t>(*at) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = (group << 8) | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      out.push_back(j <= count ? kAlphabet[(group >> (18 - 6 * j)) & 63] : '=');
    }
  }
  return out;
}

}  // namespace sibyl::base
