#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

#include "base/error.h"

namespace sibyl {

/// A value or an Error. Expected failures are returned, never thrown; see `fail` and `pass_on`.
template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(Code::NotFound, "collection '{}' is not there", name);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(Code code, fmt::format_string<Args...> text,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...), {}});
}

/// The same with the path of the offending field.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail_field(Code code, std::string field,
                                               fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected<Error>(
      Error{code, fmt::format(text, std::forward<Args>(args)...), std::move(field)});
}

/// The error of a failed result, for `if (!r) { return pass_on(r); }`.
template <class T>
[[nodiscard]] tl::unexpected<Error> pass_on(Result<T>& result) {
  return tl::unexpected<Error>(std::move(result.error()));
}
template <class T>
[[nodiscard]] tl::unexpected<Error> pass_on(Result<T>&& result) {
  return tl::unexpected<Error>(std::move(result.error()));
}

/// The same with `context: ` before the message.
template <class T>
[[nodiscard]] tl::unexpected<Error> pass_on(Result<T>& result, std::string_view context) {
  Error error = std::move(result.error());
  error.message = fmt::format("{}: {}", context, error.message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace sibyl
