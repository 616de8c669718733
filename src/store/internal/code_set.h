#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "index/row_set.h"
#include "store/internal/typed_columns.h"

namespace sibyl::store {

/// Codes of a column, as ranges. Externally synchronised.
class CodeSet {
 public:
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  /// Adds [begin, end), which may be empty; in any order.
  void add(uint32_t begin, uint32_t end);
  /// Sorts and joins; before the set is read.
  void finish();
  std::span<const Range> ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  /// One byte a code below `end`, 1 for those in the set.
  std::vector<uint8_t> table(uint32_t end) const;

 private:
  std::vector<Range> ranges_;
};

/// Inserts the rows whose code is in the set.
void scan_codes(const TypedColumn& column, const CodeSet& codes, index::RowSet& rows);
/// Inserts the rows whose list has an item in the set.
void scan_lists(const TypedColumn& column, const CodeSet& codes, index::RowSet& rows);

}  // namespace sibyl::store
