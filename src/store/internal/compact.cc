#include <algorithm>

#include "store/internal/collection_engine.h"

namespace sibyl::store {

Result<void> CollectionEngine::compact(std::stop_token stop, const Progress& progress) {
  const std::lock_guard maintenance(maintenance_);
  if (Result<void> sealed = seal(); !sealed) {
    return sealed;
  }
  const std::shared_ptr<const StateSnapshot> snapshot = current();
  const CollectionState& state = snapshot->state();
  std::vector<MergedRow> rows;
  uint64_t stored = 0;
  for (uint32_t i = 0; i < state.segments.size(); ++i) {
    const SegmentState& segment = state.segments[i];
    stored += segment.segment->rows();
    for (uint32_t row = 0; row < segment.segment->rows(); ++row) {
      if (segment.is_live(row)) {
        rows.push_back({i, row});
      }
    }
  }
  if (state.segments.empty() || (state.segments.size() == 1 && rows.size() == stored)) {
    return {};
  }
  if (rows.size() >= UINT32_MAX) {
    return fail(Code::TooLarge, "collection '{}' has {} rows; one segment holds at most {}", name_,
                rows.size(), UINT32_MAX - 1);
  }
  uint64_t number = 0;
  {
    const std::lock_guard turn(turn_);
    number = take_number();
  }
  const size_t files = 1 + state.schema->text_fields.size() + state.schema->vector_fields.size();
  const auto step = [&](size_t files_done) -> Result<void> {
    if (stop.stop_requested()) {
      return fail(Code::Interrupted, "compaction of '{}' was stopped; nothing changed", name_);
    }
    if (progress) {
      progress(rows.size() * files_done / files, rows.size());
    }
    return {};
  };
  std::optional<SealedSegment> merged;
  if (!rows.empty()) {
    Result<SealedSegment> made = merge_segments(folder_, state, rows, number, step);
    if (!made) {
      return pass_on(made);
    }
    merged = std::move(*made);
  }
  Result<void> swapped = swap_merged(state, rows, std::move(merged));
  if (swapped && progress) {
    progress(rows.size(), rows.size());
  }
  return swapped;
}

Result<void> CollectionEngine::swap_merged(const CollectionState& merged_from,
                                           std::span<const MergedRow> rows,
                                           std::optional<SealedSegment> merged) {
  const std::lock_guard turn(turn_);
  const std::shared_ptr<const StateSnapshot> before = current();
  CollectionState state = before->state();
  const size_t replaced_segments = merged_from.segments.size();
  Manifest next = manifest_;
  std::erase_if(next.files, [&](const ManifestFile& file) {
    return std::any_of(merged_from.segments.begin(), merged_from.segments.end(),
                       [&](const SegmentState& s) {
                         return std::find(file.segments.begin(), file.segments.end(), s.number) !=
                                file.segments.end();
                       });
  });
  std::vector<SegmentState> segments;
  if (merged) {
    // Rows that were deleted or replaced while the new segment was written.
    auto live = std::make_shared<index::RowSet>(rows.size(), true);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!state.segments[rows[i].segment].is_live(rows[i].row)) {
        live->erase(i);
      }
    }
    merged->state.live_rows = static_cast<uint32_t>(live->count());
    if (merged->state.live_rows < rows.size()) {
      merged->state.live = std::move(live);
    }
    next.files.insert(next.files.end(), merged->files.begin(), merged->files.end());
    segments.push_back(std::move(merged->state));
  }
  segments.insert(segments.end(),
                  state.segments.begin() + static_cast<ptrdiff_t>(replaced_segments),
                  state.segments.end());
  state.segments = std::move(segments);
  Result<void> saved = check_writable();
  bool replaced = false;
  if (saved) {
    saved = save(next, state, replaced);
  }
  if (!saved) {
    for (const ManifestFile& file : merged ? merged->files : std::vector<ManifestFile>()) {
      if (!replaced) {
        folder_.discard(file.name);
      }
    }
    return saved;
  }
  std::swap(manifest_, next);
  publish(std::move(state));
  discard_unlisted(next);
  return {};
}

}  // namespace sibyl::store
