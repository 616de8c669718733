#include "text/internal/compose.h"

#include <cstdlib>
#include <memory>

#include <utf8proc.h>

#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

void normalize_in_place(std::string& text, bool compose, bool compatible) {
  struct Free {
    // The library's malloc. NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
    void operator()(utf8proc_uint8_t* bytes) const { std::free(bytes); }
  };
  const int options = UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                      (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* bytes = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                 static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, Free> owner(bytes);
  if (size >= 0) {
    text.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
}

bool joins_previous(char32_t code_point) {
  if (code_point < 0x300) {
    return false;
  }
  // Hangul vowels and final consonants compose by arithmetic, not by table.
  if (code_point >= 0x1161 && code_point <= 0x11FF) {
    return true;
  }
  char32_t parts[18];
  const int count = decompose_compatible(code_point, parts);
  // Only the first part meets what stands before.
  const char32_t first = count > 0 ? parts[0] : code_point;
  const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(first));
  // The library marks what can be second in a pair by this half of its table.
  const bool second = property->comb_index != UINT16_MAX && property->comb_index >= 0x8000;
  return property->combining_class != 0 || second;
}

size_t grapheme_length(std::string_view text, size_t position) {
  const size_t begin = position;
  utf8proc_int32_t state = 0;
  char32_t before = next_code_point(text, position);
  while (position < text.size()) {
    size_t next = position;
    const char32_t c = next_code_point(text, next);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                         static_cast<utf8proc_int32_t>(c), &state)) {
      break;
    }
    before = c;
    position = next;
  }
  return position - begin;
}

}  // namespace sibyl::text
