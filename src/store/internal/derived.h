#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "index/derived_index.h"
#include "store/database.h"
#include "store/internal/folder.h"
#include "store/internal/manifest.h"
#include "store/internal/memory_budget.h"
#include "store/internal/state.h"

namespace sibyl::store {

/// An index that was made and opened, on its way into the manifest.
struct BuiltIndex {
  DerivedState state;
  ManifestFile file;
};

/// What an index is built of and under which limits.
struct IndexPlan {
  std::span<const SegmentState> segments;  ///< neighbours
  size_t field = 0;
  uint64_t generation = 0;
  bool graph = false;
  uint64_t number = 0;  ///< of the file
  /// A graph that may be extended, none or the vectors of it that are gone.
  std::shared_ptr<const index::VectorIndex> old;
  std::optional<index::RowSet> removed;
};

/// Builds, writes and opens an index. Interrupted when `progress` says so; ResourceExhausted or
/// TooLarge with figures when it needs more memory than is free. On failure no file stays.
Result<BuiltIndex> build_index(const Folder& folder, const IndexPlan& plan,
                               const DatabaseOptions& options, MemoryBudget& memory,
                               const index::BuildProgress& progress);

/// Opens an index that the manifest names, over the segments that it covers; `later`: see
/// index::open_flat_index.
Result<DerivedState> open_index(const Folder& folder, const ManifestFile& file,
                                std::span<const SegmentState> segments, MemoryBudget& memory,
                                bool later);

/// Opens the file of an index of a derived kind over the vectors that it was made from.
Result<std::unique_ptr<index::VectorIndex>> open_derived(
    std::string_view kind, std::shared_ptr<const base::FileView> view, const std::string& path,
    std::shared_ptr<const index::VectorIndex> vectors, bool later = false);

bool is_derived_kind(std::string_view kind);

/// The place of the first of `covered` when all stand in `segments` side by side; else the end.
size_t find_segments(std::span<const SegmentState> segments, std::span<const uint64_t> covered);

/// Finds the segments of every index anew after segments came or went; an index whose segments are
/// no neighbours any more is dropped.
void place_indexes(CollectionState& state);

/// Puts an index into a state and a manifest; those of the field that it covers a part of go.
void install_index(BuiltIndex built, CollectionState& state, Manifest& manifest);

}  // namespace sibyl::store
