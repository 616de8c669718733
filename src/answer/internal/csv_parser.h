#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::answer::internal {

/// A record of a CSV file.
struct CsvRow {
  uint64_t line = 0;  ///< where it begins, from 1
  std::vector<std::string> fields;
};

/// Records by RFC 4180 one after the other: quoted fields may hold separators, line ends and
/// doubled quotes. A stray quote fails the record and names its line; the next record begins on the
/// line after it, so one wrong record costs no other. Keeps a view of the text.
class CsvParser {
 public:
  CsvParser(std::string_view text, char separator, uint64_t row_bytes_max)
      : text_(text), separator_(separator), row_bytes_max_(row_bytes_max) {}
  /// False at the end. An error is of this record alone; `row.line` is set either way.
  Result<bool> next(CsvRow& row);

 private:
  Result<void> read_quoted(std::string& field, uint64_t row_line);
  Result<void> read_bare(std::string& field);
  void skip_line();

  std::string_view text_;
  char separator_;
  uint64_t row_bytes_max_;
  size_t at_ = 0;
  uint64_t line_ = 1;
};

/// The separator of a file by its first line: a tab for .tsv; a comma, or a semicolon when the
/// first line holds no comma.
char csv_separator(std::string_view text, bool tabs);

}  // namespace sibyl::answer::internal
