#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::store {

// Metadata of a segment's rows by field (docs/formats/segment.md, "Typed columns").
inline constexpr size_t kTypedColumnsMax = 1024;

/// What stands for a value in a column: below kFirstValueCode a kind of value, from there on a
/// place in the column's integers, reals and texts laid end to end.
enum TypedCode : uint32_t {
  kMissingCode,  ///< no value, or null
  kOtherCode,    ///< an object; as an item also null or a list
  kListCode,
  kFalseCode,
  kTrueCode,
  kFirstValueCode
};

inline constexpr int64_t kNoDate = INT64_MIN;

/// Where a text stands in the typed metadata of all rows.
struct TypedText {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

/// The values at one path. A view.
struct TypedColumn {
  std::string_view path;           ///< as encode_path gives it
  std::span<const uint32_t> rows;  ///< rows that have a code, ascending; empty: all have one
  size_t code_bytes = 1;           ///< 1, 2 or 4
  std::string_view codes;
  std::span<const int64_t> integers;  ///< distinct, ascending, as reals and texts are
  std::span<const double> reals;
  std::span<const TypedText> texts;
  std::span<const int64_t> dates;  ///< of each text, or kNoDate; empty when no text is a date
  std::span<const uint32_t> list_rows;
  std::span<const uint32_t> list_begins;  ///< first item of each list, and the end
  std::span<const uint32_t> items;        ///< codes
  std::string_view text_bytes;            ///< what TypedText points into

  uint32_t first_real() const { return kFirstValueCode + static_cast<uint32_t>(integers.size()); }
  uint32_t first_text() const { return first_real() + static_cast<uint32_t>(reals.size()); }
  uint32_t code_end() const { return first_text() + static_cast<uint32_t>(texts.size()); }
  std::string_view text(size_t number) const {
    return text_bytes.substr(texts[number].begin, texts[number].bytes);
  }
};

/// A path as columns are named.
std::string encode_path(std::span<const std::string> names);

/// The columns of a segment. Immutable, thread-safe; a view of the file.
class TypedColumns {
 public:
  /// `section` starts at a multiple of 8; `typed` is the typed metadata of all rows. The name of
  /// what does not fit as DataLoss.
  static Result<TypedColumns> open(std::string_view section, std::string_view typed, uint32_t rows);
  /// Null when the path has no column.
  const TypedColumn* find(std::span<const std::string> path) const;
  /// A path without a column has no value in any row.
  bool complete() const { return complete_; }
  std::span<const TypedColumn> columns() const { return columns_; }

 private:
  std::vector<TypedColumn> columns_;
  bool complete_ = true;
};

/// The section for rows whose typed metadata `typed` gives; its views stay while this runs.
std::string build_typed_columns(uint32_t rows,
                                const std::function<std::string_view(uint32_t row)>& typed);

}  // namespace sibyl::store
