#include "base/json_access.h"

#include "base/json.h"

namespace sibyl::base {

const Json& value_at(const Json& object, std::string_view key) {
  static const Json nothing;
  const auto found = object.is_object() ? object.find(std::string(key)) : object.end();
  return found != object.end() ? *found : nothing;
}

std::string text_at(const Json& object, std::string_view key) {
  const Json& value = value_at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

double number_at(const Json& object, std::string_view key, double otherwise) {
  const Json& value = value_at(object, key);
  return value.is_number() ? value.get<double>() : otherwise;
}

bool flag_at(const Json& object, std::string_view key) {
  const Json& value = value_at(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::string shown_at(const Json& object, std::string_view key) {
  const Json& value = value_at(object, key);
  return value.is_string() ? value.get<std::string>()
         : value.is_null() ? std::string()
                           : dump_json(value);
}

}  // namespace sibyl::base
