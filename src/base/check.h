#pragma once

#include <source_location>
#include <string_view>

namespace sibyl::base {

/// Prints the failed invariant and aborts. Not for user input: that gets an Error.
[[noreturn]] void check_failed(std::string_view expression, std::string_view detail,
                               const std::source_location& where);

/// Aborts when a bug of ours broke an invariant; on in every build.
inline void check(bool holds, std::string_view what,
                  const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    check_failed(what, {}, where);
  }
}

}  // namespace sibyl::base
