#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace sibyl::model {

inline constexpr uint64_t kConfigBytesMax = 4ULL << 20;
inline constexpr uint64_t kTokenizerBytesMax = 128ULL << 20;

/// Typed access to the fields of a configuration file that other programs wrote: unknown keys are
/// fine, known ones must have the right type. The first error is kept for `finish`. Holds
/// references: keep the value and the name alive.
class ConfigFields {
 public:
  /// `file` is put before field names in errors.
  ConfigFields(const base::Json& object, const std::string& file) : object_(object), file_(file) {}

  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// nullptr when missing or null.
  const base::Json* find(std::string_view key) const;
  uint64_t size(std::string_view key, uint64_t otherwise, uint64_t lowest, uint64_t highest);
  uint64_t required_size(std::string_view key, uint64_t lowest, uint64_t highest);
  double number(std::string_view key, double otherwise, double lowest, double highest);
  bool boolean(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string otherwise);
  Result<void> finish() const;

 private:
  void note(std::string_view key, std::string_view wanted, const base::Json& value);

  const base::Json& object_;
  const std::string& file_;
  std::optional<Error> error_;
};

/// Reads a configuration file of at most kConfigBytesMax that must hold a JSON object.
Result<base::Json> read_config(const std::string& path);
/// Parses one; `name` is the file's name in errors.
Result<base::Json> parse_config(std::string_view text, const std::string& name);

}  // namespace sibyl::model
