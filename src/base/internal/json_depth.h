#pragma once

#include <cstddef>
#include <string_view>

namespace sibyl::base::internal {

/// Finds the end of the JSON value at the start of `text` by brackets and strings alone: one past
/// its last byte, or 0 when it never ends or nests deeper than `depth_max`. Values that are no
/// object, array or string end before a comma, bracket or blank.
size_t json_value_length(std::string_view text, size_t depth_max);

/// Whether brackets outside strings nest at most `depth_max` deep.
bool json_depth_within(std::string_view text, size_t depth_max);

}  // namespace sibyl::base::internal
