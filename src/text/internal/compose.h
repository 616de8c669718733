#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sibyl::text {

/// Unicode normal form of well-formed UTF-8: NFC, NFD, NFKC or NFKD.
void normalize_in_place(std::string& text, bool compose, bool compatible);
inline void compose_in_place(std::string& text) {
  normalize_in_place(text, true, false);
}

/// Whether a code point may compose or change places with what stands before it.
bool joins_previous(char32_t code_point);

/// Length of the grapheme cluster that starts at `position` (Unicode annex 29, extended).
size_t grapheme_length(std::string_view text, size_t position);

}  // namespace sibyl::text
