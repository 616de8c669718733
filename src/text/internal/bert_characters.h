#pragma once

namespace sibyl::text {

/// Character classes and mappings exactly as Hugging Face's BertNormalizer and BertPreTokenizer
/// have them, which differ from today's Unicode for some hundred rare code points.
bool bert_is_dropped(char32_t code_point);      ///< clean_text removes it
bool bert_is_punctuation(char32_t code_point);  ///< a token of its own
bool bert_is_accent(char32_t code_point);       ///< strip_accents removes it after decomposition
int bert_lower_case(char32_t code_point, char32_t out[3]);
int bert_decompose(char32_t code_point, char32_t out[18]);

}  // namespace sibyl::text
