#pragma once

#include <optional>
#include <span>

#include "index/row_set.h"
#include "store/internal/state.h"

namespace sibyl::store {

/// Which vectors of a field are gone, when those of `now` are the ones of `then` without these and
/// with others behind them: what a graph over `then` has to be told to be extended to `now`. Rows
/// are known by their sequences, so it does not matter how they are cut into segments. None when
/// the others do not stand behind, or when so much changed that a new graph is the better one.
std::optional<index::RowSet> removed_vectors(std::span<const SegmentState> then,
                                             std::span<const SegmentState> now, size_t field);

}  // namespace sibyl::store
