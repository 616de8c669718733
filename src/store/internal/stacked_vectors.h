#pragma once

#include <memory>
#include <vector>

#include "index/vector_index.h"

namespace sibyl::store {

/// The vectors of several segments laid end to end, compared one by one: what an index over all of
/// them is made from and re-ranks with. Immutable, thread-safe.
class StackedVectors final : public index::VectorIndex {
 public:
  /// At least one part; all of one dimension.
  explicit StackedVectors(std::vector<std::shared_ptr<const index::VectorIndex>> parts);

  size_t rows() const override { return first_rows_.back(); }
  size_t vectors() const override { return vectors_; }
  size_t dimension() const override { return parts_.front()->dimension(); }
  std::string_view kind() const override { return "exact"; }
  size_t mapped_bytes() const override;
  void search(std::span<const float> query, size_t k, const index::RowSet* allowed,
              std::vector<index::VectorHit>& out) const override;
  void score(std::span<const float> query, std::span<const uint32_t> rows,
             std::span<index::VectorHit> out) const override;
  std::span<const float> vectors_of(uint32_t row) const override;

  size_t parts() const { return parts_.size(); }
  /// The first row of a part; of the one past the last: all rows.
  uint32_t first_row(size_t part) const { return first_rows_[part]; }
  /// The part that holds a row.
  size_t part_of(uint32_t row) const;

 private:
  std::vector<std::shared_ptr<const index::VectorIndex>> parts_;
  std::vector<uint32_t> first_rows_;
  size_t vectors_ = 0;
};

/// Puts the rows of `source` (null: all `rows` of them) into `target` from row `offset` on, where
/// none was yet.
void place_rows(const index::RowSet* source, size_t rows, size_t offset, index::RowSet& target);

}  // namespace sibyl::store
