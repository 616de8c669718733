#pragma once

#include <string_view>

namespace sibyl::answer::internal {

/// Offsets of spans are bytes inside the program and characters (code points) on the wire, where
/// clients of all languages count.
size_t characters_of_bytes(std::string_view text, size_t bytes);
size_t bytes_of_characters(std::string_view text, size_t characters);

}  // namespace sibyl::answer::internal
