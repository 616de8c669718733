#pragma once

#include <cstdint>
#include <string_view>

namespace sibyl::text {

/// An encoding of one byte a character whose lower half is ASCII.
struct SingleByteTable {
  std::string_view encoding;
  uint16_t upper[128];
};

/// nullptr when the encoding is not of that kind. Names are those of the WHATWG standard.
const SingleByteTable* find_single_byte(std::string_view encoding);

}  // namespace sibyl::text
