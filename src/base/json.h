#pragma once

// The full library: include this in .cc files only; public headers use base/json_fwd.h.
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::base {

inline constexpr size_t kJsonDepthMax = 64;

/// Parses one JSON document (simdjson: strict, UTF-8 checked, depth at most kJsonDepthMax; a
/// duplicate key keeps its last value). `what` names the source in the error: "line 3".
Result<Json> parse_json(std::string_view text, std::string_view what = "JSON");

/// Shortest text, keys in insertion order, invalid UTF-8 replaced; floats by shortest form.
std::string dump_json(const Json& value, int indent = -1);

/// Typed access to an object's fields with errors that name field, value and what would be right.
/// Unknown keys are found by `finish`. Holds a reference: keep the value alive.
class JsonFields {
 public:
  /// `path` is put before field names in errors: "train" gives "train.epochs".
  explicit JsonFields(const Json& object, std::string path = {}, Code code = Code::InvalidArgument);

  /// The value, or `otherwise` when the key is missing or null. The first error is kept.
  std::string text(std::string_view key, std::string otherwise = {});
  double number(std::string_view key, double otherwise, double lowest, double highest);
  int64_t integer(std::string_view key, int64_t otherwise, int64_t lowest, int64_t highest);
  bool boolean(std::string_view key, bool otherwise);
  std::vector<std::string> texts(std::string_view key);
  /// nullptr when missing or null.
  const Json* value(std::string_view key);
  const Json* object(std::string_view key);
  bool has(std::string_view key) const;
  std::string required_text(std::string_view key);
  /// The first error met, or a refusal of unknown keys naming the nearest known one.
  Result<void> finish();

 private:
  const Json* find(std::string_view key);
  void note(std::string_view key, std::string message);

  const Json& object_;
  std::string path_;
  Code code_;
  std::vector<std::string> known_;
  std::vector<Error> errors_;
};

/// The name of `known` that differs least from `name` (edit distance at most 3), or empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace sibyl::base
