#include <algorithm>
#include <numeric>

#include "store/internal/segment.h"

namespace sibyl::store {
namespace {

std::vector<uint32_t> order_by_id(const RowSource& source) {
  std::vector<uint32_t> order(source.rows());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int difference = source.column(a, kIdColumn).compare(source.column(b, kIdColumn));
    return difference != 0 ? difference < 0 : a < b;
  });
  return order;
}

std::vector<uint64_t> build_filter(const RowSource& source) {
  std::vector<uint64_t> words(filter_words(source.rows()), 0);
  for (uint32_t row = 0; row < source.rows(); ++row) {
    filter_insert(words, base::hash64(source.column(row, kIdColumn)));
  }
  return words;
}

std::vector<uint64_t> column_offsets(const RowSource& source, uint32_t column) {
  std::vector<uint64_t> offsets(source.rows() + size_t{1}, 0);
  for (uint32_t row = 0; row < source.rows(); ++row) {
    offsets[row + 1] = offsets[row] + source.column(row, column).size();
  }
  return offsets;
}

template <class T, class Value>
Result<void> append_plain(index::CheckedFileWriter& writer, uint32_t rows, const Value& value) {
  std::vector<T> values(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    values[row] = value(row);
  }
  return writer.append_values(std::span<const T>(values));
}

Result<void> append_column(index::CheckedFileWriter& writer, const RowSource& source,
                           uint32_t column, const std::vector<uint64_t>& offsets) {
  Result<void> done = writer.append_values(std::span<const uint64_t>(offsets));
  for (uint32_t row = 0; row < source.rows() && done; ++row) {
    done = writer.append(source.column(row, column));
  }
  return done;
}

}  // namespace

Result<void> write_rows(const RowSource& source, size_t text_fields, const index::ByteSink& sink) {
  const uint32_t rows = source.rows();
  const std::vector<uint32_t> order = order_by_id(source);
  const std::vector<uint64_t> filter = build_filter(source);
  const std::string typed_columns =
      build_typed_columns(rows, [&](uint32_t row) { return source.column(row, kTypedColumn); });
  const RowsMeta meta{rows, text_fields, filter.size()};
  std::vector<index::SectionSize> sections = {{kRowsMeta, sizeof(meta)},
                                              {kRowsSequences, rows * sizeof(uint64_t)},
                                              {kRowsKeys, rows * sizeof(int64_t)},
                                              {kRowsHashes, rows * sizeof(uint64_t)},
                                              {kRowsIdOrder, rows * sizeof(uint32_t)},
                                              {kRowsIdFilter, filter.size() * sizeof(uint64_t)},
                                              {kRowsTypedColumns, typed_columns.size()}};
  std::vector<std::vector<uint64_t>> offsets;
  for (uint32_t i = 0; i < kFirstTextColumn + text_fields; ++i) {
    offsets.push_back(column_offsets(source, i));
    sections.push_back({kRowsColumns + 2 * i, offsets.back().size() * sizeof(uint64_t)});
    sections.push_back({kRowsColumns + 2 * i + 1, offsets.back().back()});
  }
  index::CheckedFileWriter writer(kRowsMagic, kRowsVersion, std::move(sections), sink);
  Result<void> done = writer.append_values(std::span<const RowsMeta>(&meta, 1));
  if (done) {
    done = append_plain<uint64_t>(writer, rows, [&](uint32_t row) { return source.sequence(row); });
  }
  if (done) {
    done = append_plain<int64_t>(writer, rows, [&](uint32_t row) { return source.row_key(row); });
  }
  if (done) {
    done = append_plain<uint64_t>(writer, rows,
                                  [&](uint32_t row) { return source.content_hash(row); });
  }
  if (done) {
    done = writer.append_values(std::span<const uint32_t>(order));
  }
  if (done) {
    done = writer.append_values(std::span<const uint64_t>(filter));
  }
  if (done) {
    done = writer.append(typed_columns);
  }
  for (uint32_t i = 0; i < offsets.size() && done; ++i) {
    done = append_column(writer, source, i, offsets[i]);
  }
  return done ? writer.finish() : done;
}

}  // namespace sibyl::store
