#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/filter.h"
#include "store/row.h"
#include "store/schema.h"

namespace sibyl::store {

/// Rows of a snapshot that a filter lets through, by segment. Made by Snapshot::select.
class Selection {
 public:
  virtual ~Selection() = default;
  virtual uint64_t rows() const = 0;
};

/// A collection as it was at one sequence number: (manifest, sequence). Immutable and thread-safe;
/// readers never wait for writers. Rankings do not depend on how rows are cut into segments: scores
/// are exact, statistics are of all live rows, equal scores are ordered by sequence.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual const Schema& schema() const = 0;
  virtual uint64_t sequence() const = 0;
  virtual uint64_t live_rows() const = 0;

  virtual std::optional<RowRef> find(std::string_view id) const = 0;
  virtual Result<RowView> row(RowRef ref) const = 0;
  /// Live rows in id order, after `after_id` (exclusive; empty: from the start).
  virtual Result<std::vector<RowRef>> list(std::string_view after_id, size_t limit) const = 0;

  virtual Result<std::shared_ptr<const Selection>> select(const Filter& filter) const = 0;

  /// The k best rows of one field, best first. `selection` may be null.
  virtual Result<std::vector<Hit>> search_vectors(size_t vector_field, std::span<const float> query,
                                                  size_t k, const Selection* selection) const = 0;
  /// BM25 over text fields: the sum over the fields of boost times the field's score, each field
  /// with statistics of its own. Rows that hold no term are not answered.
  virtual Result<std::vector<Hit>> search_text(std::span<const FieldBoost> fields,
                                               std::span<const QueryTerm> terms, size_t k,
                                               const Selection* selection) const = 0;
  /// The same over one field.
  Result<std::vector<Hit>> search_text(size_t text_field, std::span<const QueryTerm> terms,
                                       size_t k, const Selection* selection) const {
    const FieldBoost field{text_field, 1};
    return search_text(std::span(&field, 1), terms, k, selection);
  }

  /// Exact scores of given rows in their order, whatever list found them: best vector of each
  /// (index::kNoVector without vectors); BM25 (0 when no term is there).
  virtual Result<std::vector<Hit>> score_vectors(size_t vector_field, std::span<const float> query,
                                                 std::span<const RowRef> rows) const = 0;
  virtual Result<std::vector<Hit>> score_text(std::span<const FieldBoost> fields,
                                              std::span<const QueryTerm> terms,
                                              std::span<const RowRef> rows) const = 0;
  Result<std::vector<Hit>> score_text(size_t text_field, std::span<const QueryTerm> terms,
                                      std::span<const RowRef> rows) const {
    const FieldBoost field{text_field, 1};
    return score_text(std::span(&field, 1), terms, rows);
  }
  /// Question to terms by the collection's analyzer, repeated terms merged by weight.
  virtual std::vector<QueryTerm> analyze(std::string_view question) const = 0;
};

}  // namespace sibyl::store
