#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::base {

/// Little-endian appends for file formats; lengths are varints (LEB128).
void put_u32(std::string& out, uint32_t value);
void put_u64(std::string& out, uint64_t value);
void put_f32(std::string& out, float value);
void put_varint(std::string& out, uint64_t value);
/// Length as varint, then the bytes.
void put_text(std::string& out, std::string_view text);

/// Bounds-checked reader of untrusted bytes. After a read past the end every read gives zero or
/// empty and `ok()` is false, so a decoder checks once at the end. Does not own the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  uint8_t u8();
  uint32_t u32();
  uint64_t u64();
  float f32();
  uint64_t varint();
  std::string_view text();
  std::string_view take(size_t count);
  void skip(size_t count) { take(count); }
  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }
  bool ok() const { return ok_; }
  void fail() { ok_ = false; }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

/// CRC-32 (IEEE 802.3, zlib's) of bytes, continuing `seed`.
uint32_t crc32(std::string_view bytes, uint32_t seed = 0);
/// XXH64-like 64-bit content hash for change detection and hash tables; not for security.
uint64_t hash64(std::string_view bytes, uint64_t seed = 0);
std::string to_hex(std::string_view bytes);
std::string base64(std::string_view bytes);

}  // namespace sibyl::base
