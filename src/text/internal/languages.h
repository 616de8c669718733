#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sibyl::text {

struct Language {
  std::string_view code;        ///< ISO 639-1
  std::string_view name;        ///< English, lower case
  std::string_view stemmer;     ///< libstemmer's name; empty: none
  std::string_view stop_words;  ///< separated by single spaces; may be empty
};

/// All languages that an analyzer can be made for, by code; "none" is not among them.
std::span<const Language> languages();
/// By code or name, any case; nullptr when unknown.
const Language* find_language(std::string_view code_or_name);

}  // namespace sibyl::text
