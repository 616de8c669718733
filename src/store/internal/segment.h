#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/result.h"
#include "index/checked_file.h"
#include "store/internal/id_filter.h"
#include "store/internal/typed_columns.h"

namespace sibyl::store {

// Sections of a rows file, docs/formats/segment.md.
inline constexpr std::string_view kRowsMagic = "SIBYLROW";
inline constexpr uint32_t kRowsVersion = 1;
inline constexpr uint32_t kRowsMeta = 1;
inline constexpr uint32_t kRowsSequences = 2;
inline constexpr uint32_t kRowsKeys = 3;
inline constexpr uint32_t kRowsHashes = 4;
inline constexpr uint32_t kRowsIdOrder = 5;
inline constexpr uint32_t kRowsIdFilter = 6;
inline constexpr uint32_t kRowsTypedColumns = 7;
/// Text columns: places in section kRowsColumns + 2 n, bytes in the one after it.
inline constexpr uint32_t kRowsColumns = 16;

enum RowsColumn : uint32_t {
  kIdColumn,
  kSourceColumn,
  kPassagesColumn,
  kMetadataColumn,
  kTypedColumn,
  kFirstTextColumn
};

struct RowsMeta {
  uint64_t rows = 0;
  uint64_t text_fields = 0;
  uint64_t filter_words = 0;
};

/// Rows to be sealed, ascending by sequence. Views live as long as the source.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual uint32_t rows() const = 0;
  virtual uint64_t sequence(uint32_t row) const = 0;
  virtual int64_t row_key(uint32_t row) const = 0;
  virtual uint64_t content_hash(uint32_t row) const = 0;
  virtual std::string_view column(uint32_t row, uint32_t column) const = 0;
};

/// Writes the rows file of a segment.
Result<void> write_rows(const RowSource& source, size_t text_fields, const index::ByteSink& sink);

/// The rows of a sealed segment. Immutable, thread-safe.
class Segment {
 public:
  /// DataLoss with the path when a checksum or an offset is wrong. With `later` the bytes of ids,
  /// documents and texts are not checked, as index::check_container will.
  static Result<std::shared_ptr<const Segment>> open(std::shared_ptr<const base::FileView> file,
                                                     const std::string& path, size_t text_fields,
                                                     bool later = false);

  uint32_t rows() const { return static_cast<uint32_t>(meta_.rows); }
  uint64_t sequence(uint32_t row) const { return sequences_[row]; }
  int64_t row_key(uint32_t row) const { return keys_[row]; }
  uint64_t content_hash(uint32_t row) const { return hashes_[row]; }
  std::string_view column(uint32_t row, uint32_t column) const {
    const Column& at = columns_[column];
    return at.bytes.substr(at.offsets[row], at.offsets[row + 1] - at.offsets[row]);
  }
  /// The metadata by field; null in files that were written without.
  const TypedColumns* typed_columns() const { return typed_columns_ ? &*typed_columns_ : nullptr; }
  std::string_view id(uint32_t row) const { return column(row, kIdColumn); }
  /// The row that stands at a place of the order by (id, row).
  uint32_t row_by_id(uint32_t place) const { return order_[place]; }
  /// First place whose id is not before `id`; with `past` the first whose id is after it.
  uint32_t place_of(std::string_view id, bool past) const;
  /// Calls visit(row) for every row of the id.
  template <class Visit>
  void find(std::string_view id, uint64_t hash, const Visit& visit) const {
    if (!filter_may_contain(filter_, hash)) {
      return;
    }
    for (uint32_t at = place_of(id, false); at < rows() && this->id(order_[at]) == id; ++at) {
      visit(order_[at]);
    }
  }

 private:
  struct Column {
    std::span<const uint64_t> offsets;
    std::string_view bytes;
  };
  explicit Segment(index::CheckedFile file) : file_(std::move(file)) {}
  Result<void> load(size_t text_fields);
  Result<void> load_typed_columns();

  index::CheckedFile file_;
  RowsMeta meta_;
  std::span<const uint64_t> sequences_;
  std::span<const int64_t> keys_;
  std::span<const uint64_t> hashes_;
  std::span<const uint32_t> order_;
  std::span<const uint64_t> filter_;
  std::vector<Column> columns_;
  std::optional<TypedColumns> typed_columns_;
};

}  // namespace sibyl::store
