#pragma once

#include <string_view>

namespace sibyl::text {

/// The encoding that a label of HTTP or HTML means (WHATWG), or empty when it means none.
std::string_view encoding_of_label(std::string_view label);

}  // namespace sibyl::text
