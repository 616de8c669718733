#pragma once

#include <cstddef>
#include <string_view>

namespace sibyl::base::internal {

/// Bytes of the well-formed UTF-8 sequence at the start of `bytes`, 0 when there is none (no
/// overlong forms, no surrogates, nothing above U+10FFFF).
inline size_t utf8_sequence_length(std::string_view bytes) {
  if (bytes.empty()) {
    return 0;
  }
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const unsigned char second = byte(1);
  const bool bad = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                   (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return bad ? 0 : length;
}

}  // namespace sibyl::base::internal
