#pragma once

#include <string>
#include <string_view>

namespace sibyl::text {

/// Replaces a lower-case word by its Snowball stem; `language` is libstemmer's name. libstemmer's
/// objects are not thread-safe, so each thread has its own.
void stem_in_place(std::string_view language, std::string& word);

}  // namespace sibyl::text
