#pragma once

#include <span>
#include <vector>

#include "store/internal/segment.h"
#include "store/internal/segment_files.h"
#include "store/internal/state.h"

namespace sibyl::store {

/// The live rows of a tail.
class TailSource final : public RowSource {
 public:
  explicit TailSource(const Tail& tail) : tail_(tail) {
    for (uint32_t row = 0; row < tail.rows; ++row) {
      if (tail.live->contains(row)) {
        live_.push_back(row);
      }
    }
  }
  const TailRow& tail_row(uint32_t row) const { return tail_.row(live_[row]); }
  uint32_t rows() const override { return static_cast<uint32_t>(live_.size()); }
  uint64_t sequence(uint32_t row) const override { return tail_row(row).sequence; }
  int64_t row_key(uint32_t row) const override { return tail_row(row).row_key; }
  uint64_t content_hash(uint32_t row) const override { return tail_row(row).row.content_hash; }
  std::string_view column(uint32_t row, uint32_t column) const override {
    const TailRow& at = tail_row(row);
    switch (column) {
      case kIdColumn:
        return at.row.id;
      case kSourceColumn:
        return at.row.source;
      case kPassagesColumn:
        return at.row.passages;
      case kMetadataColumn:
        return at.row.metadata;
      case kTypedColumn:
        return at.typed;
      default:
        return at.row.texts[column - kFirstTextColumn];
    }
  }

 private:
  const Tail& tail_;
  std::vector<uint32_t> live_;
};

/// Chosen rows of sealed segments.
class MergedSource final : public RowSource {
 public:
  MergedSource(const CollectionState& state, std::span<const MergedRow> rows)
      : state_(state), rows_(rows) {}
  uint32_t rows() const override { return static_cast<uint32_t>(rows_.size()); }
  uint64_t sequence(uint32_t row) const override { return of(row).sequence(rows_[row].row); }
  int64_t row_key(uint32_t row) const override { return of(row).row_key(rows_[row].row); }
  uint64_t content_hash(uint32_t row) const override {
    return of(row).content_hash(rows_[row].row);
  }
  std::string_view column(uint32_t row, uint32_t column) const override {
    return of(row).column(rows_[row].row, column);
  }

 private:
  const Segment& of(uint32_t row) const { return *state_.segments[rows_[row].segment].segment; }

  const CollectionState& state_;
  std::span<const MergedRow> rows_;
};

}  // namespace sibyl::store
