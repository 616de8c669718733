#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace sibyl::base {

// Reading JSON that others made: a missing or odd value is the same as none, never an exception.

/// The text at `key`; "" when the value is no object, the key is missing or holds something else.
std::string text_at(const Json& object, std::string_view key);
/// The number at `key`, or `otherwise`.
double number_at(const Json& object, std::string_view key, double otherwise = 0);
/// The boolean at `key`, or false.
bool flag_at(const Json& object, std::string_view key);
/// The value at `key`; a null value when it is missing.
const Json& value_at(const Json& object, std::string_view key);
/// The value at `key` as people read it: a text as it is, "" for null, else JSON.
std::string shown_at(const Json& object, std::string_view key);

}  // namespace sibyl::base
