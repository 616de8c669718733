#include "base/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/internal/utf8_scan.h"

namespace sibyl::base {
namespace {

template <class T>
void append_shortest(std::string& out, T value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 48> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

void append_escaped(std::string& out, unsigned char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      out += "\\u00";
      out.push_back(kDigits[c >> 4]);
      out.push_back(kDigits[c & 15]);
  }
}

void append_quoted(std::string& out, std::string_view value) {
  out.push_back('"');
  size_t plain = 0;  // start of the bytes not yet copied
  for (size_t i = 0; i < value.size();) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    const size_t length = c < 0x80 ? 0 : internal::utf8_sequence_length(value.substr(i));
    if (length > 0) {
      i += length;
      continue;
    }
    out.append(value.substr(plain, i - plain));
    if (c < 0x80) {
      append_escaped(out, c);
    } else {
      out += "\xEF\xBF\xBD";
    }
    plain = ++i;
  }
  out.append(value.substr(plain));
  out.push_back('"');
}

}  // namespace

void JsonWriter::before_value() {
  if (needs_comma_) {
    out_.push_back(',');
  }
  needs_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  out_.push_back('{');
  needs_comma_ = false;
  return *this;
}
JsonWriter& JsonWriter::end_object() {
  out_.push_back('}');
  needs_comma_ = true;
  return *this;
}
JsonWriter& JsonWriter::begin_array() {
  before_value();
  out_.push_back('[');
  needs_comma_ = false;
  return *this;
}
JsonWriter& JsonWriter::end_array() {
  out_.push_back(']');
  needs_comma_ = true;
  return *this;
}
JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  append_quoted(out_, name);
  out_.push_back(':');
  needs_comma_ = false;
  return *this;
}
JsonWriter& JsonWriter::text(std::string_view value) {
  before_value();
  append_quoted(out_, value);
  return *this;
}
JsonWriter& JsonWriter::number(double value) {
  before_value();
  append_shortest(out_, value);
  return *this;
}
JsonWriter& JsonWriter::number(float value) {
  before_value();
  append_shortest(out_, value);
  return *this;
}
JsonWriter& JsonWriter::integer(int64_t value) {
  before_value();
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out_.append(digits.data(), end.ptr);
  return *this;
}
JsonWriter& JsonWriter::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
  return *this;
}
JsonWriter& JsonWriter::null() {
  before_value();
  out_ += "null";
  return *this;
}
JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  out_ += json;
  return *this;
}
JsonWriter& JsonWriter::floats(std::span<const float> values) {
  begin_array();
  for (const float value : values) {
    number(value);
  }
  return end_array();
}

}  // namespace sibyl::base
