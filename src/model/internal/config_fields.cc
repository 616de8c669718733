#include "model/internal/config_fields.h"

#include <cmath>
#include <utility>

#include "base/file_system.h"

namespace sibyl::model {

const base::Json* ConfigFields::find(std::string_view key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigFields::note(std::string_view key, std::string_view wanted, const base::Json& value) {
  if (!error_) {
    std::string shown = base::dump_json(value);
    if (shown.size() > 80) {
      shown.resize(77);
      shown += "...";
    }
    error_ = Error{Code::InvalidData,
                   fmt::format("{}: {} is {}; it must be {}", file_, key, shown, wanted),
                   std::string(key)};
  }
}

uint64_t ConfigFields::size(std::string_view key, uint64_t otherwise, uint64_t lowest,
                            uint64_t highest) {
  const base::Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  // Some writers put whole numbers as floats (512.0).
  const bool whole = value->is_number() && value->get<double>() == std::floor(value->get<double>());
  if (!whole || value->get<double>() < static_cast<double>(lowest) ||
      value->get<double>() > static_cast<double>(highest)) {
    note(key, fmt::format("a whole number from {} to {}", lowest, highest), *value);
    return otherwise;
  }
  return value->is_number_unsigned() ? value->get<uint64_t>()
                                     : static_cast<uint64_t>(value->get<double>());
}

uint64_t ConfigFields::required_size(std::string_view key, uint64_t lowest, uint64_t highest) {
  if (!has(key) && !error_) {
    error_ =
        Error{Code::InvalidData, fmt::format("{}: {} is missing", file_, key), std::string(key)};
  }
  return size(key, lowest, lowest, highest);
}

double ConfigFields::number(std::string_view key, double otherwise, double lowest, double highest) {
  const base::Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number() || !(value->get<double>() >= lowest) ||
      !(value->get<double>() <= highest)) {
    note(key, fmt::format("a number from {} to {}", lowest, highest), *value);
    return otherwise;
  }
  return value->get<double>();
}

bool ConfigFields::boolean(std::string_view key, bool otherwise) {
  const base::Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_boolean()) {
    note(key, "true or false", *value);
    return otherwise;
  }
  return value->get<bool>();
}

std::string ConfigFields::text(std::string_view key, std::string otherwise) {
  const base::Json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_string()) {
    note(key, "a text", *value);
    return otherwise;
  }
  return value->get<std::string>();
}

Result<void> ConfigFields::finish() const {
  if (error_) {
    return tl::unexpected<Error>(*error_);
  }
  return {};
}

Result<base::Json> parse_config(std::string_view text, const std::string& name) {
  auto parsed = base::parse_json(text, name);
  if (!parsed) {
    parsed.error().code = Code::InvalidData;
    return pass_on(parsed);
  }
  if (!parsed->is_object()) {
    return fail(Code::InvalidData, "{}: holds no JSON object", name);
  }
  return parsed;
}

Result<base::Json> read_config(const std::string& path) {
  auto text = base::read_file(path, kConfigBytesMax);
  if (!text) {
    return pass_on(text);
  }
  return parse_config(*text, path);
}

}  // namespace sibyl::model
