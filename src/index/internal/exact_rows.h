#pragma once

#include <span>
#include <vector>

#include "index/neighbour_graph.h"
#include "index/vector_index.h"

namespace sibyl::index {

/// The best vector of a row by the full vectors: inner product, or the negative squared distance.
/// Equal scores: the first part. Scores beyond float32 are its ends, and above kNoVector. A row
/// without vectors, or none of whose scores is a number, scores kNoVector.
VectorHit exact_row_hit(const VectorIndex& vectors, Metric metric, std::span<const float> query,
                        uint32_t row);

/// The best `wanted` of distinct rows, best first, equal scores by row; rows without vectors are
/// left out.
void rank_rows_exactly(const VectorIndex& vectors, Metric metric, std::span<const float> query,
                       std::span<const uint32_t> rows, size_t wanted, std::vector<VectorHit>& out);

/// The rows of a set ascending, or all below `count` where there is none.
void collect_rows(const RowSet* allowed, size_t count, std::vector<uint32_t>& out);

}  // namespace sibyl::index
