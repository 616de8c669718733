#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "encoder/internal/remote_protocol.h"

namespace sibyl::encoder {

/// `fail` with the code of every reply that cannot be used: the caller may try another time.
template <class... Args>
tl::unexpected<Error> bad_reply(fmt::format_string<Args...> text, Args&&... args) {
  return fail(Code::Unavailable, "the reply cannot be used: {}",
              fmt::format(text, std::forward<Args>(args)...));
}

/// Appends one number; refuses what is none, and what is not finite as float32.
Result<void> append_number(const base::Json& value, std::vector<float>& out);
/// A version given as text or whole number, checked.
Result<std::string> version_from(const base::Json& value, std::string_view field);
/// A whole number that is not negative.
std::optional<uint64_t> count_from(const base::Json& value);
/// The two counts of a shape `[texts, dimension]`.
std::optional<std::pair<uint64_t, uint64_t>> shape_from(const base::Json& value);
/// Rows and numbers a row against what was asked for.
Result<void> check_shape(uint64_t rows, uint64_t dimension, const ReplyLimits& limits);

}  // namespace sibyl::encoder
