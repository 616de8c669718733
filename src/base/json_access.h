#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace sibyl::base {

/// The text at `key`; "" when the value is no object, the key is missing or holds something else.
inline std::string text_at(const Json& object, std::string_view key) {
  const auto found = object.is_object() ? object.find(std::string(key)) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The number at `key`, or `otherwise`.
inline double number_at(const Json& object, std::string_view key, double otherwise = 0) {
  const auto found = object.is_object() ? object.find(std::string(key)) : object.end();
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

/// The boolean at `key`, or false.
inline bool flag_at(const Json& object, std::string_view key) {
  const auto found = object.is_object() ? object.find(std::string(key)) : object.end();
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// The value at `key`; a null value when it is missing.
inline const Json& value_at(const Json& object, std::string_view key) {
  static const Json nothing;
  const auto found = object.is_object() ? object.find(std::string(key)) : object.end();
  return found != object.end() ? *found : nothing;
}

/// The value at `key` as people read it: a text as it is, "" for null, else JSON.
inline std::string shown_at(const Json& object, std::string_view key) {
  const Json& value = value_at(object, key);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : dump_json(value);
}

}  // namespace sibyl::base
