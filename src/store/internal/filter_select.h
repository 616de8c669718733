#pragma once

#include "index/row_set.h"
#include "store/internal/filter_tree.h"
#include "store/internal/segment.h"

namespace sibyl::store {

/// The rows of a segment that a filter lets through, dead ones among them: by its typed columns,
/// and row by row where it has none for a path. The same rows as FilterTree::matches_typed gives.
index::RowSet select_rows(const FilterTree& filter, const Segment& segment);

}  // namespace sibyl::store
