#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::model {

inline constexpr size_t kModelNameLengthMax = 64;
/// The file that names the default model; no model may have its name.
inline constexpr const char* kDefaultFile = "default";

/// 1 to 64 of [a-z0-9._-], first a letter or digit.
bool is_model_name(std::string_view name);
Result<void> check_model_name(std::string_view name);
/// A whole number from 1, as folders are named.
std::optional<uint32_t> parse_model_version(std::string_view text);

/// "name" or "name@3".
struct ModelReference {
  std::string name;
  std::optional<uint32_t> version;
};
Result<ModelReference> parse_model_reference(const std::string& text);

}  // namespace sibyl::model
