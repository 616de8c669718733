#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/internal/record.h"

namespace sibyl::store {

/// What one log file holds. Views point into its bytes.
struct LogContents {
  bool header_ok = false;
  bool copy = false;               ///< repeats the records of logs before it
  std::vector<LogRecord> changes;  ///< Put and Delete, in order
  uint64_t records = 0;            ///< marks and the end among them
  uint64_t end = 0;                ///< of the last whole record
  bool torn = false;               ///< bytes follow that were never synced
  bool marked = true;              ///< the last record is known to have been synced
  bool ended = false;
};

/// Reads a log. DataLoss when a record that had been synced is damaged, naming the place and what
/// is lost; bytes of a group that was never known to be synced are `torn`. `sequence_before` is
/// that of the last change before this log, for the words of the error.
Result<LogContents> read_log(std::string_view bytes, const std::string& path, uint64_t number,
                             uint64_t sequence_before);

}  // namespace sibyl::store
