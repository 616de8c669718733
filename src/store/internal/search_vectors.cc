#include <algorithm>
#include <cmath>

#include "simd/distance.h"
#include "store/internal/state_snapshot.h"

namespace sibyl::store {
namespace {

/// Best vector of a tail row, as the exact index decides it.
index::VectorHit score_tail_row(const TailRow& row, size_t field, std::span<const float> query) {
  index::VectorHit hit{0, 0, index::kNoVector};
  const std::vector<float>& vectors = row.row.vectors[field];
  for (size_t begin = 0; begin < vectors.size(); begin += query.size()) {
    const float score = simd::dot(query.data(), vectors.data() + begin, query.size());
    if (score > hit.score) {
      hit.part = static_cast<uint32_t>(begin / query.size());
      hit.score = score;
    }
  }
  return hit;
}

}  // namespace

Result<void> StateSnapshot::check_query(size_t vector_field, std::span<const float> query) const {
  if (vector_field >= state_.schema->vector_fields.size()) {
    return fail(Code::InvalidArgument, "vector field {} is not there; the collection has {}",
                vector_field, state_.schema->vector_fields.size());
  }
  const VectorField& field = state_.schema->vector_fields[vector_field];
  if (query.size() != field.dimension) {
    return fail(Code::InvalidArgument,
                "the query has {} numbers; field '{}' holds vectors of dimension {}", query.size(),
                field.name, field.dimension);
  }
  for (const float value : query) {
    if (!std::isfinite(value)) {
      return fail(Code::InvalidArgument, "the query holds {}, which is no finite number", value);
    }
  }
  return {};
}

void StateSnapshot::search_index(const DerivedState& derived, std::span<const float> query,
                                 size_t k, const Selection* selection,
                                 std::vector<Hit>& hits) const {
  const size_t count = derived.segments.size();
  const StackedVectors& vectors = *derived.vectors;
  const index::RowSet* rows = nullptr;
  index::RowSet stacked(0);
  if (count == 1) {
    rows = allowed(derived.first, selection);
  } else {
    const bool all = selection == nullptr &&
                     std::all_of(state_.segments.begin() + static_cast<ptrdiff_t>(derived.first),
                                 state_.segments.begin() + static_cast<ptrdiff_t>(derived.first) +
                                     static_cast<ptrdiff_t>(count),
                                 [](const SegmentState& s) { return s.live == nullptr; });
    if (!all) {
      stacked = index::RowSet(vectors.rows());
      for (size_t i = 0; i < count; ++i) {
        place_rows(allowed(derived.first + i, selection),
                   vectors.first_row(i + 1) - vectors.first_row(i), vectors.first_row(i), stacked);
      }
      rows = &stacked;
    }
  }
  std::vector<index::VectorHit> found;
  derived.index->search(query, k, rows, found);
  for (const index::VectorHit& hit : found) {
    const size_t part = vectors.part_of(hit.row);
    const RowRef ref{static_cast<uint32_t>(derived.first + part),
                     hit.row - vectors.first_row(part)};
    hits.push_back({ref, sequence_of(ref), hit.part, hit.score});
  }
}

Result<std::vector<Hit>> StateSnapshot::search_vectors(size_t vector_field,
                                                       std::span<const float> query, size_t k,
                                                       const Selection* selection) const {
  Result<void> checked = check_query(vector_field, query);
  if (checked) {
    checked = check_search(k, selection);
  }
  if (!checked) {
    return pass_on(checked);
  }
  std::vector<Hit> hits;
  std::vector<index::VectorHit> found;
  std::vector<bool> is_covered(state_.segments.size(), false);
  for (const DerivedState& derived : state_.derived) {
    if (derived.field == vector_field) {
      search_index(derived, query, k, selection, hits);
      std::fill_n(is_covered.begin() + static_cast<ptrdiff_t>(derived.first),
                  derived.segments.size(), true);
    }
  }
  for (uint32_t i = 0; i < tail_number(); ++i) {
    if (is_covered[i]) {
      continue;
    }
    const SegmentState& segment = state_.segments[i];
    segment.vectors[vector_field]->search(query, k, allowed(i, selection), found);
    for (const index::VectorHit& hit : found) {
      hits.push_back({{i, hit.row}, segment.segment->sequence(hit.row), hit.part, hit.score});
    }
  }
  if (const index::RowSet* rows = allowed(tail_number(), selection)) {
    rows->for_each([&](size_t number) {
      const auto row = static_cast<uint32_t>(number);
      const TailRow& tail = state_.tail.row(row);
      const index::VectorHit hit = score_tail_row(tail, vector_field, query);
      if (hit.score > index::kNoVector) {
        hits.push_back({{tail_number(), row}, tail.sequence, hit.part, hit.score});
      }
    });
  }
  keep_best(hits, k);
  return hits;
}

Result<std::vector<Hit>> StateSnapshot::score_vectors(size_t vector_field,
                                                      std::span<const float> query,
                                                      std::span<const RowRef> rows) const {
  Result<void> checked = check_query(vector_field, query);
  if (checked) {
    checked = check_rows(rows);
  }
  if (!checked) {
    return pass_on(checked);
  }
  std::vector<Hit> hits;
  hits.reserve(rows.size());
  for (const RowRef& ref : rows) {
    index::VectorHit hit;
    if (ref.segment == tail_number()) {
      hit = score_tail_row(state_.tail.row(ref.row), vector_field, query);
    } else {
      state_.segments[ref.segment].vectors[vector_field]->score(
          query, std::span<const uint32_t>(&ref.row, 1), std::span<index::VectorHit>(&hit, 1));
    }
    hits.push_back({ref, sequence_of(ref), hit.part, hit.score});
  }
  return hits;
}

}  // namespace sibyl::store
