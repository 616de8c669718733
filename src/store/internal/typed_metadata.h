#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::store {

/// Compact form of a row's metadata, made once when the row is written, so that a filter's scan
/// reads no JSON (docs/formats/segment.md, "Typed metadata").
enum class ValueType : uint8_t { Null, False, True, Number, Integer, Text, List, Object };

/// A value inside typed metadata. Views live as long as the bytes.
struct TypedValue {
  ValueType type = ValueType::Null;
  double number = 0;      ///< Number, and Integer rounded
  int64_t integer = 0;    ///< Integer
  std::string_view text;  ///< Text; List and Object: the encoded items
};

/// InvalidData when `metadata` is neither empty nor a JSON object.
Result<std::string> encode_typed_metadata(std::string_view metadata);

/// Reads values one after the other; bytes that do not decode end it.
class TypedReader {
 public:
  explicit TypedReader(std::string_view bytes) : bytes_(bytes) {}
  bool next(TypedValue& value);
  /// A key of an object; the value follows.
  bool next_key(std::string_view& key);

 private:
  bool varint(uint64_t& value);
  bool take(uint64_t count, std::string_view& out);

  std::string_view bytes_;
};

/// The value at a path of keys; nothing when it is missing or null.
std::optional<TypedValue> find_value(std::string_view typed, std::span<const std::string> path);

}  // namespace sibyl::store
