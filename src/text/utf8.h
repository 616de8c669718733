#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::text {

/// Whether all bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view bytes);
/// Replaces each maximal ill-formed part by U+FFFD, as Unicode section 3.9 and Python's "replace"
/// do.
std::string repair_utf8(std::string_view bytes);

/// Decodes the code point at `position` and moves past it; U+FFFD for an ill-formed part. The view
/// must not be empty at `position`.
char32_t next_code_point(std::string_view text, size_t& position);
void append_code_point(std::string& out, char32_t code_point);
std::u32string to_utf32(std::string_view text);

/// Number of code points.
size_t code_points(std::string_view text);
/// At most `bytes_max` bytes, cut at a code point border.
std::string_view cut_utf8(std::string_view text, size_t bytes_max);

}  // namespace sibyl::text
