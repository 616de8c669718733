#pragma once

#include <cstdint>
#include <vector>

#include "internal/ann_set_file.h"

namespace sibyl::bench {

/// Rows that a filter leaves: by chance, or those near or far from the set's first vector.
std::vector<uint32_t> filter_rows(const Options& options, const Set& set);
/// Leaves the fifth of the questions that lie nearest to the set's first vector: a filter near it
/// is then correlated with them, one far from it against them.
void keep_near_queries(Set& set);
/// The answers under a filter, by measuring every vector.
void find_nearest(Set& set, size_t k, const index::RowSet* allowed);
/// For other programs: int32 rows, queries and k, then the rows, the queries' vectors (float32) and
/// the nearest of each (int32, -1 where the filter leaves fewer).
void write_filter(const Options& options, const Set& set, const std::vector<uint32_t>& rows);

}  // namespace sibyl::bench
