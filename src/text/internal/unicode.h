#pragma once

#include <cstdint>

namespace sibyl::text {

/// What a code point is, for words, sentences and tokens (Unicode general categories).
bool is_space(char32_t code_point);  ///< White_Space property
bool is_word(char32_t code_point);   ///< letter, number or underscore, as \w of Python's re
bool is_letter(char32_t code_point);
bool is_upper(char32_t code_point);  ///< Lu or Lt
bool is_lower(char32_t code_point);
bool is_number(char32_t code_point);
bool is_mark(char32_t code_point);  ///< Mn, Mc, Me
bool is_nonspacing_mark(char32_t code_point);
bool is_punctuation(char32_t code_point);    ///< P* and the ASCII signs
bool is_control(char32_t code_point);        ///< Cc, Cf, Co
bool is_cjk_ideograph(char32_t code_point);  ///< the ranges that BERT puts spaces around

/// Han, Hiragana, Katakana, Thai, Lao, Khmer or Myanmar: written without spaces between words.
bool is_unspaced_script(char32_t code_point);

/// Full lower-case mapping into `out` (at most 3); returns how many.
int lower_case(char32_t code_point, char32_t out[3]);
/// Canonical decomposition, complete, not reordered, into `out` (at most 18); returns how many.
int decompose(char32_t code_point, char32_t out[18]);
int decompose_compatible(char32_t code_point, char32_t out[18]);
/// Canonical combining class.
int combining_class(char32_t code_point);

}  // namespace sibyl::text
