#pragma once

#include <memory>
#include <span>
#include <vector>

#include "index/checked_file.h"
#include "index/internal/flat_candidates.h"
#include "index/internal/flat_coder.h"
#include "index/internal/flat_file.h"
#include "index/vector_index.h"
#include "simd/fast_scan.h"

namespace sibyl::index {

/// What a flat index reads; views of a file, whose sizes are right.
struct FlatSections {
  FlatShape shape;
  Metric metric = Metric::kInnerProduct;
  std::span<const uint64_t> signs;
  std::span<const float> centre;
  std::span<const uint8_t> blocks;
  std::span<const float> errors;
  std::span<const int8_t> fine_codes;
  std::span<const float> fine_steps;
  std::vector<uint32_t> uncoded;  ///< Vectors without codes.
};

/// Scans the codes of all vectors; see docs/formats/flat-index.md, "How a search reads it".
class FlatIndex final : public VectorIndex {
 public:
  /// `first` is first_vectors(*vectors).
  FlatIndex(CheckedFile file, FlatSections sections, std::shared_ptr<const VectorIndex> vectors,
            std::vector<uint32_t> first);

  size_t rows() const override { return first_.size() - 1; }
  size_t vectors() const override { return sections_.shape.vectors; }
  size_t dimension() const override { return sections_.shape.dimension; }
  std::string_view kind() const override { return "flat"; }
  void search(std::span<const float> query, size_t k, const RowSet* allowed,
              std::vector<VectorHit>& out) const override;
  void search_with(std::span<const float> query, size_t k, const RowSet* allowed,
                   const SearchOptions& options, std::vector<VectorHit>& out) const override;
  void score(std::span<const float> query, std::span<const uint32_t> rows,
             std::span<VectorHit> out) const override;
  size_t resident_bytes() const override;
  size_t mapped_bytes() const override;
  std::span<const float> vectors_of(uint32_t row) const override {
    return vectors_->vectors_of(row);
  }

 private:
  struct Search;

  uint32_t row_of(size_t vector) const {
    return row_of_.empty() ? static_cast<uint32_t>(vector) : row_of_[vector];
  }
  void exact_search(std::span<const float> query, size_t k, const RowSet* allowed,
                    std::vector<VectorHit>& out) const;
  /// One word of 32 bits a block.
  std::vector<uint32_t> block_masks(const RowSet& allowed) const;

  void scan(Search& search) const;
  void seed(Search& search, size_t first, size_t count) const;
  void visit(Search& search, size_t first, size_t count) const;
  void score_fine(Search& search, std::span<const uint32_t> vectors) const;

  CheckedFile file_;
  FlatSections sections_;
  std::shared_ptr<const VectorIndex> vectors_;
  std::vector<uint32_t> first_;
  std::vector<uint32_t> row_of_;  ///< Empty when every row has one vector.
  FlatCoder coder_;
  simd::FastScanBlocks blocks_;
};

}  // namespace sibyl::index
