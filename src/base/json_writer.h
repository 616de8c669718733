#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sibyl::base {

/// Appends JSON to a string; floats in their shortest form by std::to_chars, NaN and infinity as
/// null, invalid UTF-8 replaced by U+FFFD. Commas are put by the writer. Not thread-safe.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(double value);
  JsonWriter& number(float value);
  JsonWriter& integer(int64_t value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  /// JSON that is known to be right, put as it is.
  JsonWriter& raw(std::string_view json);
  JsonWriter& floats(std::span<const float> values);

 private:
  void before_value();

  std::string& out_;
  bool needs_comma_ = false;
};

}  // namespace sibyl::base
