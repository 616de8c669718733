#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "seal_checksums.h"

namespace sibyl::fuzz {

/// A right file with the input written into it, and checksums that fit: the input is triples of a
/// place (two bytes) and a value. What is invented whole seldom gets past the first section.
inline std::string change_file(std::string bytes, const uint8_t* data, size_t size) {
  for (size_t i = 0; i + 3 <= size; i += 3) {
    const size_t at = (size_t{data[i]} << 8 | data[i + 1]) % bytes.size();
    bytes[at] = static_cast<char>(data[i + 2]);
  }
  seal_checksums(bytes);
  return bytes;
}

/// The input as a file whose checksums fit as far as that can be.
inline std::string sealed_file(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  seal_checksums(bytes);
  return bytes;
}

}  // namespace sibyl::fuzz
