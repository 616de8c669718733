#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace sibyl::store {

inline constexpr size_t kFilterBytesMax = 16384;
inline constexpr size_t kFilterDepthMax = 32;

/// A parsed filter: `status = "open" and (year >= 2020 or not tags contains "old")`. Operators
/// `= != < <= > >= in contains exists starts_with and or not`; values text, number, boolean, date
/// (ISO text compared as a date when both sides are dates), lists. A field is a metadata key; dots
/// reach into objects; odd names stand in backquotes. Missing fields match nothing but `not`, `!=`.
/// Immutable, thread-safe. Grammar: docs/reference/filters.md.
class Filter {
 public:
  /// InvalidArgument with the position (from 1) and what was expected there.
  static Result<std::shared_ptr<const Filter>> parse(std::string_view text);
  virtual ~Filter() = default;
  /// `metadata` is a row's JSON object text.
  virtual bool matches(std::string_view metadata) const = 0;
};

}  // namespace sibyl::store
