#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/internal/state.h"
#include "store/snapshot.h"

namespace sibyl::store {

inline constexpr size_t kSearchTopMax = 16384;
inline constexpr size_t kQueryTermsMax = 4096;
inline constexpr double kQueryWeightMax = 1e15;  ///< of a term or a field, also below zero

class StateSnapshot;

/// Live rows that a filter let through, one set a segment and the tail last.
class RowSelection final : public Selection {
 public:
  RowSelection(const StateSnapshot* owner, std::vector<index::RowSet> sets, uint64_t rows)
      : owner_(owner), sets_(std::move(sets)), rows_(rows) {}
  uint64_t rows() const override { return rows_; }
  const StateSnapshot* owner() const { return owner_; }
  const index::RowSet& set(size_t segment) const { return sets_[segment]; }

 private:
  const StateSnapshot* owner_;  ///< compared only
  std::vector<index::RowSet> sets_;
  uint64_t rows_;
};

/// Segment number `state().segments.size()` in a RowRef is the tail.
class StateSnapshot final : public Snapshot {
 public:
  explicit StateSnapshot(CollectionState state) : state_(std::move(state)) {}
  const CollectionState& state() const { return state_; }

  const Schema& schema() const override { return *state_.schema; }
  uint64_t sequence() const override { return state_.sequence; }
  uint64_t live_rows() const override { return state_.live_rows; }
  std::optional<RowRef> find(std::string_view id) const override;
  Result<RowView> row(RowRef ref) const override;
  Result<std::vector<RowRef>> list(std::string_view after_id, size_t limit) const override;
  Result<std::shared_ptr<const Selection>> select(const Filter& filter) const override;
  Result<std::vector<Hit>> search_vectors(size_t vector_field, std::span<const float> query,
                                          size_t k, const Selection* selection) const override;
  using Snapshot::score_text;
  using Snapshot::search_text;
  Result<std::vector<Hit>> search_text(std::span<const FieldBoost> fields,
                                       std::span<const QueryTerm> terms, size_t k,
                                       const Selection* selection) const override;
  Result<std::vector<Hit>> score_vectors(size_t vector_field, std::span<const float> query,
                                         std::span<const RowRef> rows) const override;
  Result<std::vector<Hit>> score_text(std::span<const FieldBoost> fields,
                                      std::span<const QueryTerm> terms,
                                      std::span<const RowRef> rows) const override;
  std::vector<QueryTerm> analyze(std::string_view question) const override;

  /// A row that `ref` names, without a check.
  RowView view(RowRef ref) const;
  bool is_live(RowRef ref) const;
  uint64_t sequence_of(RowRef ref) const;

 private:
  void search_index(const DerivedState& derived, std::span<const float> query, size_t k,
                    const Selection* selection, std::vector<Hit>& hits) const;
  /// The indexes of a field, the largest first: what it finds spares most of the comparisons in
  /// the others. Gives the segments that they cover.
  std::vector<bool> search_indexes(size_t field, std::span<const float> query, size_t k,
                                   const Selection* selection, std::vector<Hit>& hits) const;
  /// Adds what of the tail may be among the k best; needs k > 0.
  void search_tail_vectors(size_t field, std::span<const float> query, size_t k,
                           const Selection* selection, std::vector<Hit>& hits) const;
  uint32_t tail_number() const { return static_cast<uint32_t>(state_.segments.size()); }
  Result<void> check_search(size_t k, const Selection* selection) const;
  Result<void> check_query(size_t vector_field, std::span<const float> query) const;
  Result<void> check_terms(std::span<const FieldBoost> fields,
                           std::span<const QueryTerm> terms) const;
  Result<void> check_rows(std::span<const RowRef> rows) const;
  /// Live rows of a segment under a selection; null: all of them.
  const index::RowSet* allowed(size_t segment, const Selection* selection) const;

  CollectionState state_;
};

/// Best first, equal scores by sequence, at most k.
void keep_best(std::vector<Hit>& hits, size_t k);

}  // namespace sibyl::store
