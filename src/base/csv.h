#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sibyl::base {

/// One record of a CSV or TSV file (RFC 4180). `line` is where it begins, from 1; `error` is not
/// empty when it is wrong (a stray quote, too long), and then there are no fields.
struct CsvRecord {
  uint64_t line = 0;
  std::vector<std::string> fields;
  std::string error;
};

/// Reads a CSV or TSV file, plain or gzip, in bounded memory; blank lines are skipped, a byte order
/// mark as well. `on_record` returns false to stop. "-" is standard input.
Result<void> for_each_csv_record(const std::string& path, char delimiter, uint64_t record_bytes_max,
                                 const std::function<bool(CsvRecord&&)>& on_record);

}  // namespace sibyl::base
