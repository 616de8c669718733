#include "text/utf8.h"

#include <cstring>

namespace sibyl::text {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t code_point;
  uint32_t length;  // bytes taken: the whole sequence, or the maximal ill-formed part
  bool good;
};

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

/// Decodes a sequence that starts with a byte >= 0x80, by table 3-7 of the Unicode standard: only
/// the second byte's bounds depend on the first.
Decoded decode_long(const unsigned char* at, size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0xC2 || lead > 0xF4) {
    return {kReplacement, 1, false};
  }
  const uint32_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (left < 2 || at[1] < low || at[1] > high) {
    return {kReplacement, 1, false};
  }
  char32_t code_point = lead & (0x7F >> length);
  code_point = (code_point << 6) | (at[1] & 0x3F);
  for (uint32_t i = 2; i < length; ++i) {
    if (i >= left || !is_continuation(at[i])) {
      return {kReplacement, i, false};
    }
    code_point = (code_point << 6) | (at[i] & 0x3F);
  }
  return {code_point, length, true};
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// Index of the first byte >= 0x80 from `position` on.
size_t skip_ascii(std::string_view text, size_t position) {
  while (position + 8 <= text.size()) {
    uint64_t word;
    std::memcpy(&word, text.data() + position, 8);
    if ((word & 0x8080808080808080u) != 0) {
      break;
    }
    position += 8;
  }
  while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) {
    ++position;
  }
  return position;
}

/// Index of the first ill-formed part, or the size.
size_t find_ill_formed(std::string_view bytes, size_t position) {
  while ((position = skip_ascii(bytes, position)) < bytes.size()) {
    const Decoded decoded = decode_long(bytes_of(bytes) + position, bytes.size() - position);
    if (!decoded.good) {
      return position;
    }
    position += decoded.length;
  }
  return position;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  return find_ill_formed(bytes, 0) == bytes.size();
}

std::string repair_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  size_t done = 0;
  while (done < bytes.size()) {
    const size_t bad = find_ill_formed(bytes, done);
    out.append(bytes.substr(done, bad - done));
    if (bad == bytes.size()) {
      break;
    }
    append_code_point(out, kReplacement);
    done = bad + decode_long(bytes_of(bytes) + bad, bytes.size() - bad).length;
  }
  return out;
}

char32_t next_code_point(std::string_view text, size_t& position) {
  const auto byte = static_cast<unsigned char>(text[position]);
  if (byte < 0x80) {
    ++position;
    return byte;
  }
  const Decoded decoded = decode_long(bytes_of(text) + position, text.size() - position);
  position += decoded.length;
  return decoded.code_point;
}

void append_code_point(std::string& out, char32_t code_point) {
  const auto bits = [code_point](int shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += {static_cast<char>(0xC0 | (code_point >> 6)), bits(0)};
  } else if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
    append_code_point(out, kReplacement);
  } else if (code_point < 0x10000) {
    out += {static_cast<char>(0xE0 | (code_point >> 12)), bits(6), bits(0)};
  } else {
    out += {static_cast<char>(0xF0 | (code_point >> 18)), bits(12), bits(6), bits(0)};
  }
}

std::u32string to_utf32(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t position = 0; position < text.size();) {
    out += next_code_point(text, position);
  }
  return out;
}

size_t code_points(std::string_view text) {
  size_t count = 0;
  for (size_t position = 0; position < text.size(); ++count) {
    next_code_point(text, position);
  }
  return count;
}

std::string_view cut_utf8(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) {
    return text;
  }
  // A code point has at most three continuation bytes; more are ill-formed and cut anywhere.
  size_t end = bytes_max;
  for (int back = 0; back < 3 && end > 0; ++back) {
    if (!is_continuation(static_cast<unsigned char>(text[end]))) {
      break;
    }
    --end;
  }
  return text.substr(0, is_continuation(static_cast<unsigned char>(text[end])) ? bytes_max : end);
}

}  // namespace sibyl::text
