#include "store/internal/typed_metadata.h"

#include <cstring>

#include "base/bytes.h"
#include "base/json.h"

namespace sibyl::store {
namespace {

void put_type(std::string& out, ValueType type) {
  out.push_back(static_cast<char>(type));
}

/// The depth is bounded by the JSON parser.
void encode(const base::Json& value, std::string& out) {
  if (value.is_boolean()) {
    put_type(out, value.get<bool>() ? ValueType::True : ValueType::False);
  } else if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) {
    put_type(out, ValueType::Number);
    const auto number = static_cast<double>(value.get<uint64_t>());
    out.append(reinterpret_cast<const char*>(&number), sizeof(number));
  } else if (value.is_number_integer()) {
    put_type(out, ValueType::Integer);
    base::put_u64(out, static_cast<uint64_t>(value.get<int64_t>()));
  } else if (value.is_number_float()) {
    put_type(out, ValueType::Number);
    const double number = value.get<double>();
    out.append(reinterpret_cast<const char*>(&number), sizeof(number));
  } else if (value.is_string()) {
    put_type(out, ValueType::Text);
    base::put_text(out, value.get_ref<const std::string&>());
  } else if (value.is_array()) {
    std::string items;
    for (const base::Json& item : value) {
      encode(item, items);
    }
    put_type(out, ValueType::List);
    base::put_text(out, items);
  } else if (value.is_object()) {
    std::string items;
    for (const auto& [key, item] : value.items()) {
      base::put_text(items, key);
      encode(item, items);
    }
    put_type(out, ValueType::Object);
    base::put_text(out, items);
  } else {
    put_type(out, ValueType::Null);
  }
}

}  // namespace

Result<std::string> encode_typed_metadata(std::string_view metadata) {
  if (metadata.empty()) {
    return std::string();
  }
  Result<base::Json> json = base::parse_json(metadata, "metadata");
  if (!json) {
    json.error().code = Code::InvalidData;
    json.error().field = "metadata";
    return pass_on(json);
  }
  if (!json->is_object()) {
    return fail_field(Code::InvalidData, "metadata",
                      "metadata is a JSON {}; it must be an object such as {{\"year\": 2020}}",
                      json->type_name());
  }
  std::string typed;
  for (const auto& [key, item] : json->items()) {
    base::put_text(typed, key);
    encode(item, typed);
  }
  return typed;
}

bool TypedReader::varint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

bool TypedReader::take(uint64_t count, std::string_view& out) {
  if (count > bytes_.size()) {
    return false;
  }
  out = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return true;
}

bool TypedReader::next_key(std::string_view& key) {
  uint64_t length = 0;
  return varint(length) && take(length, key);
}

bool TypedReader::next(TypedValue& value) {
  std::string_view plain;
  if (!take(1, plain) || static_cast<uint8_t>(plain[0]) > static_cast<uint8_t>(ValueType::Object)) {
    return false;
  }
  value = {};
  value.type = static_cast<ValueType>(plain[0]);
  uint64_t length = 0;
  switch (value.type) {
    case ValueType::Null:
    case ValueType::False:
    case ValueType::True:
      return true;
    case ValueType::Number:
      if (!take(sizeof(double), plain)) {
        return false;
      }
      std::memcpy(&value.number, plain.data(), sizeof(double));
      return true;
    case ValueType::Integer:
      if (!take(sizeof(int64_t), plain)) {
        return false;
      }
      std::memcpy(&value.integer, plain.data(), sizeof(int64_t));
      value.number = static_cast<double>(value.integer);
      return true;
    case ValueType::Text:
    case ValueType::List:
    case ValueType::Object:
      return varint(length) && take(length, value.text);
  }
  return false;
}

std::optional<TypedValue> find_value(std::string_view typed, std::span<const std::string> path) {
  TypedValue value;
  for (size_t depth = 0; depth < path.size(); ++depth) {
    if (depth > 0) {
      if (value.type != ValueType::Object) {
        return std::nullopt;
      }
      typed = value.text;
    }
    TypedReader reader(typed);
    std::string_view key;
    bool found = false;
    while (!found && reader.next_key(key) && reader.next(value)) {
      found = key == path[depth];
    }
    if (!found) {
      return std::nullopt;
    }
  }
  if (value.type == ValueType::Null) {
    return std::nullopt;
  }
  return value;
}

}  // namespace sibyl::store
