#pragma once

#include <cstdint>
#include <span>

#include "store/internal/segment_files.h"

namespace sibyl::store {

/// Memory that merging rows of `state`'s segments takes at its height: lists of rows and places,
/// the postings of one field, and the metadata by field while it is put together.
uint64_t merge_bytes(const CollectionState& state, std::span<const MergedRow> rows);

/// Memory that new vectors of a segment take until they are written, as many as there are now and
/// one a row at least.
uint64_t replace_bytes(const SegmentState& segment, const Schema& next);

}  // namespace sibyl::store
