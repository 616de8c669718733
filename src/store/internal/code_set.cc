#include "store/internal/code_set.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sibyl::store {
namespace {

constexpr size_t kWordRows = 64;

/// Bytes of 0 and 1 to bits: the product moves bit 0 of each byte to the top byte.
uint64_t pack_bytes(const std::array<uint8_t, kWordRows>& hits) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) {
    uint64_t eight = 0;
    std::memcpy(&eight, hits.data() + 8 * i, sizeof(eight));
    word |= (eight * 0x0102040810204080U >> 56) << (8 * i);
  }
  return word;
}

/// Calls test(code) for every code, 64 at a time so that a compiler makes vectors of it.
template <class Code, class Test>
void scan(std::string_view bytes, const Test& test, const TypedColumn& column,
          index::RowSet& rows) {
  const size_t count = bytes.size() / sizeof(Code);
  const std::span<const Code> codes(reinterpret_cast<const Code*>(bytes.data()), count);
  if (!column.rows.empty()) {
    for (size_t i = 0; i < count; ++i) {
      if (test(codes[i]) != 0) {
        rows.insert(column.rows[i]);
      }
    }
    return;
  }
  const std::span<uint64_t> words = rows.words();
  for (size_t word = 0; word < count / kWordRows; ++word) {
    std::array<uint8_t, kWordRows> hits;
    const Code* const from = codes.data() + word * kWordRows;
    for (size_t i = 0; i < kWordRows; ++i) {
      hits[i] = test(from[i]);
    }
    words[word] |= pack_bytes(hits);
  }
  for (size_t row = count / kWordRows * kWordRows; row < count; ++row) {
    if (test(codes[row]) != 0) {
      rows.insert(row);
    }
  }
}

/// One range by two comparisons in one, more by a table.
template <class Code>
void scan_as(const TypedColumn& column, const CodeSet& set, index::RowSet& rows) {
  if (set.ranges().size() == 1) {
    const auto first = static_cast<Code>(set.ranges()[0].begin);
    const auto last = static_cast<Code>(set.ranges()[0].end - 1 - set.ranges()[0].begin);
    scan<Code>(
        column.codes,
        [first, last](Code code) -> uint8_t { return static_cast<Code>(code - first) <= last; },
        column, rows);
    return;
  }
  const std::vector<uint8_t> table = set.table(column.code_end());
  scan<Code>(
      column.codes, [from = table.data()](Code code) -> uint8_t { return from[code]; }, column,
      rows);
}

}  // namespace

void CodeSet::add(uint32_t begin, uint32_t end) {
  if (begin >= end) {
    return;
  }
  if (!ranges_.empty() && ranges_.back().end == begin) {
    ranges_.back().end = end;
  } else {
    ranges_.push_back({begin, end});
  }
}

void CodeSet::finish() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> joined;
  for (const Range& range : ranges_) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
}

std::vector<uint8_t> CodeSet::table(uint32_t end) const {
  std::vector<uint8_t> table(end, 0);
  for (const Range& range : ranges_) {
    std::fill(table.begin() + range.begin, table.begin() + range.end, 1);
  }
  return table;
}

void scan_codes(const TypedColumn& column, const CodeSet& codes, index::RowSet& rows) {
  if (codes.empty()) {
    return;
  }
  if (column.code_bytes == 1) {
    scan_as<uint8_t>(column, codes, rows);
  } else if (column.code_bytes == 2) {
    scan_as<uint16_t>(column, codes, rows);
  } else {
    scan_as<uint32_t>(column, codes, rows);
  }
}

void scan_lists(const TypedColumn& column, const CodeSet& codes, index::RowSet& rows) {
  if (codes.empty() || column.items.empty()) {
    return;
  }
  const std::vector<uint8_t> table = codes.table(column.code_end());
  const std::span<uint64_t> words = rows.words();
  for (size_t list = 0; list < column.list_rows.size(); ++list) {
    uint64_t any = 0;  // no branch on it, as it cannot be foretold
    for (uint32_t item = column.list_begins[list]; item < column.list_begins[list + 1]; ++item) {
      any |= table[column.items[item]];
    }
    words[column.list_rows[list] / 64] |= any << (column.list_rows[list] % 64);
  }
}

}  // namespace sibyl::store
