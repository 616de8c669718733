#include "text/internal/unicode.h"

#include <algorithm>
#include <iterator>

#include <utf8proc.h>

namespace sibyl::text {

namespace {

struct Span {
  char32_t first;
  char32_t last;
};

template <size_t kCount>
bool in_ranges(const Span (&spans)[kCount], char32_t code_point) {
  const auto* at =
      std::lower_bound(std::begin(spans), std::end(spans), code_point,
                       [](const Span& span, char32_t value) { return span.last < value; });
  return at != std::end(spans) && at->first <= code_point;
}

utf8proc_category_t category(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

int decompose_with(char32_t code_point, char32_t out[18], int options) {
  utf8proc_int32_t buffer[18];
  int boundary = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), buffer, 18,
                                             static_cast<utf8proc_option_t>(options), &boundary);
  if (count < 1 || count > 18) {
    out[0] = code_point;
    return 1;
  }
  std::copy(buffer, buffer + count, out);
  return static_cast<int>(count);
}

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_letter(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_number(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_word(char32_t c) {
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  return is_letter(c) || is_number(c);
}

bool is_upper(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LT;
}

bool is_lower(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL;
}

bool is_mark(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_MN;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  }
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_control(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
         kind == UTF8PROC_CATEGORY_CO;
}

bool is_cjk_ideograph(char32_t c) {
  static constexpr Span kSpans[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                    {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                    {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return in_ranges(kSpans, c);
}

bool is_unspaced_script(char32_t c) {
  static constexpr Span kSpans[] = {
      {0x0E01, 0x0E3A}, {0x0E40, 0x0E4E}, {0x0E81, 0x0ECD},   {0x0EDC, 0x0EDF},  {0x1000, 0x103F},
      {0x1050, 0x109D}, {0x1780, 0x17D3}, {0x17D7, 0x17D7},   {0x17DC, 0x17DD},  {0x2E80, 0x2FD5},
      {0x3005, 0x3007}, {0x3021, 0x3029}, {0x3031, 0x3035},   {0x3038, 0x303B},  {0x3041, 0x3096},
      {0x3099, 0x309A}, {0x309D, 0x309F}, {0x30A1, 0x30FA},   {0x30FC, 0x30FF},  {0x31F0, 0x31FF},
      {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA9E0, 0xA9EF},   {0xA9FA, 0xA9FE},  {0xAA60, 0xAA7F},
      {0xF900, 0xFAFF}, {0xFF66, 0xFF9F}, {0x1AFF0, 0x1B16F}, {0x20000, 0x323AF}};
  return in_ranges(kSpans, c);
}

int lower_case(char32_t c, char32_t out[3]) {
  if (c == 0x130) {  // the only code point whose lower case is longer (SpecialCasing.txt)
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
  }
  out[0] = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  return 1;
}

int decompose(char32_t c, char32_t out[18]) {
  return decompose_with(c, out, UTF8PROC_DECOMPOSE);
}

int decompose_compatible(char32_t c, char32_t out[18]) {
  return decompose_with(c, out, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
}

int combining_class(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

}  // namespace sibyl::text
