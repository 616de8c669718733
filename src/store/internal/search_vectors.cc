#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

/// What a further row must score to be among the k best of those found: the others are dropped.
/// Below every score while there are fewer.
float floor_of(std::vector<Hit>& hits, size_t k) {
  if (hits.size() < k) {
    return kNoFloor;
  }
  keep_best(hits, k);
  return hits.back().score;
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
  index::SearchOptions options;
  options.floor = floor_of(hits, k);
  derived.index->search_with(query, k, rows, options, found);
  for (const index::VectorHit& hit : found) {
    const size_t part = vectors.part_of(hit.row);
    const RowRef ref{static_cast<uint32_t>(derived.first + part),
                     hit.row - vectors.first_row(part)};
    hits.push_back({ref, sequence_of(ref), hit.part, hit.score});
  }
}

void StateSnapshot::search_tail_vectors(size_t field, std::span<const float> query, size_t k,
                                        const Selection* selection, std::vector<Hit>& hits) const {
  const index::RowSet* allowed_rows = allowed(tail_number(), selection);
  if (allowed_rows == nullptr) {
    return;
  }
  const Tail& tail = state_.tail;
  const TailQuery coded(query);
  float floor = floor_of(hits, k);
  std::vector<uint32_t> rows;
  for (uint32_t first = 0; first < tail.rows; first += kTailBlockRows) {
    const TailBlock& block = *tail.blocks[first / kTailBlockRows];
    const uint32_t count = std::min(kTailBlockRows, tail.rows - first);
    if (count == kTailBlockRows && floor > kNoFloor) {
      block.codes[field].may_reach(coded, floor, rows);
    } else {
      rows.resize(count);
      std::iota(rows.begin(), rows.end(), 0U);
    }
    for (const uint32_t row : rows) {
      if (!allowed_rows->contains(first + row)) {
        continue;
      }
      const TailRow& about = *block.rows[row];
      const index::VectorHit hit = score_tail_row(about, field, query);
      if (hit.score > index::kNoVector) {
        hits.push_back({{tail_number(), first + row}, about.sequence, hit.part, hit.score});
      }
    }
    if (hits.size() >= 2 * k + kTailBlockRows || (hits.size() >= k && !(floor > kNoFloor))) {
      floor = floor_of(hits, k);
    }
  }
}

std::vector<bool> StateSnapshot::search_indexes(size_t field, std::span<const float> query,
                                                size_t k, const Selection* selection,
                                                std::vector<Hit>& hits) const {
  std::vector<const DerivedState*> indexes;
  std::vector<bool> is_covered(state_.segments.size(), false);
  for (const DerivedState& derived : state_.derived) {
    if (derived.field == field) {
      indexes.push_back(&derived);
      std::fill_n(is_covered.begin() + static_cast<ptrdiff_t>(derived.first),
                  derived.segments.size(), true);
    }
  }
  std::sort(indexes.begin(), indexes.end(), [](const DerivedState* a, const DerivedState* b) {
    return a->vectors->vectors() > b->vectors->vectors();
  });
  for (const DerivedState* const derived : indexes) {
    search_index(*derived, query, k, selection, hits);
  }
  return is_covered;
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
  if (k == 0) {
    return hits;
  }
  const std::vector<bool> is_covered = search_indexes(vector_field, query, k, selection, hits);
  std::vector<index::VectorHit> found;
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
  search_tail_vectors(vector_field, query, k, selection, hits);
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
