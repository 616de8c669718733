#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/log.h"
#include "store/internal/collection_engine.h"
#include "store/internal/merge_memory.h"
#include "store/internal/merge_policy.h"

namespace sibyl::store {

Result<void> CollectionEngine::compact(std::stop_token stop, const Progress& progress) {
  const WakeAfter wake(*this);
  Result<void> done;
  run_below([&] { done = compact_all(stop, progress); });
  return done;
}

void CollectionEngine::run_below(const std::function<void()>& work) const {
  // Where nothing runs by itself, the caller's thread does everything.
  options_.background_threads == 0 ? work() : run_below_queries(work);
}

Result<void> CollectionEngine::compact_all(const std::stop_token& stop, const Progress& progress) {
  const auto operation = operations_.begin("compact", stop, progress);
  Result<void> ready = catch_up(*operation);
  if (ready) {
    ready = seal();
  }
  if (!ready) {
    return ready;
  }
  const std::shared_ptr<const StateSnapshot> snapshot = current();
  const std::vector<SegmentState>& segments = snapshot->state().segments;
  if (segments.empty() ||
      (segments.size() == 1 && segments[0].live_rows == segments[0].segment->rows())) {
    return {};
  }
  return merge_range(0, segments.size(), *operation);
}

namespace {

/// The live rows of neighbouring segments, in order.
Result<std::vector<MergedRow>> live_rows(std::span<const SegmentState> segments,
                                         const std::string& collection) {
  std::vector<MergedRow> rows;
  for (uint32_t i = 0; i < segments.size(); ++i) {
    for (uint32_t row = 0; row < segments[i].segment->rows(); ++row) {
      if (segments[i].is_live(row)) {
        rows.push_back({i, row});
      }
    }
  }
  if (rows.size() >= UINT32_MAX) {
    return fail(Code::TooLarge, "collection '{}' has {} rows; one segment holds at most {}",
                collection, rows.size(), UINT32_MAX - 1);
  }
  return rows;
}

}  // namespace

Result<void> CollectionEngine::merge_range(size_t first, size_t count,
                                           Operations::Running& operation) {
  const std::shared_ptr<const StateSnapshot> snapshot = current();
  CollectionState part = snapshot->state();
  const auto begin = part.segments.begin() + static_cast<ptrdiff_t>(first);
  part.segments = std::vector<SegmentState>(begin, begin + static_cast<ptrdiff_t>(count));
  Result<std::vector<MergedRow>> rows = live_rows(part.segments, name_);
  if (!rows) {
    return pass_on(rows);
  }
  auto memory = memory_->take(
      merge_bytes(part, *rows),
      fmt::format("merging {} segments of '{}' ({} rows)", count, name_, rows->size()));
  if (!memory) {
    return pass_on(memory);
  }
  uint64_t number = 0;
  {
    const std::lock_guard turn(turn_);
    number = take_number();
  }
  const size_t files = 1 + part.schema->text_fields.size() + part.schema->vector_fields.size();
  const auto step = [&](size_t files_done) -> Result<void> {
    if (operation.stopped()) {
      return fail(Code::Interrupted, "compaction of '{}' was stopped; nothing changed", name_);
    }
    operation.report(rows->size() * files_done / files, rows->size());
    return {};
  };
  std::optional<SealedSegment> merged;
  if (!rows->empty()) {
    Result<SealedSegment> made = merge_segments(folder_, part, *rows, number, step);
    if (!made) {
      return pass_on(made);
    }
    merged = std::move(*made);
  }
  Result<std::vector<BuiltIndex>> built =
      build_for_merge(snapshot->state(), {first, count, false}, merged, operation);
  if (!built) {
    if (merged) {
      discard_files(merged->files);
    }
    return pass_on(built);
  }
  Result<void> swapped = swap_merged(part, first, *rows, std::move(merged), std::move(*built));
  if (swapped) {
    operation.report(rows->size(), rows->size());
  }
  return swapped;
}

/// Indexes of the fields whose indexes end with the merged segments.
Result<std::vector<BuiltIndex>> CollectionEngine::build_for_merge(
    const CollectionState& before, const IndexRange& range,
    const std::optional<SealedSegment>& merged, Operations::Running& operation) {
  std::vector<size_t> fields;
  for (const DerivedState& derived : before.derived) {
    if (derived.first < range.first + range.count &&
        range.first < derived.first + derived.segments.size()) {
      fields.push_back(derived.field);
    }
  }
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  CollectionState next = before;
  const auto begin = next.segments.begin() + static_cast<ptrdiff_t>(range.first);
  const auto after = next.segments.erase(begin, begin + static_cast<ptrdiff_t>(range.count));
  if (merged) {
    next.segments.insert(after, merged->state);
  }
  place_indexes(next);
  return build_ahead(&before, next, fields, operation);
}

/// Seals add segments behind the merged ones meanwhile, and writes delete rows of them.
Result<void> CollectionEngine::swap_merged(const CollectionState& merged_from, size_t first,
                                           std::span<const MergedRow> rows,
                                           std::optional<SealedSegment> merged,
                                           std::vector<BuiltIndex> built) {
  const std::lock_guard turn(turn_);
  CollectionState state = current()->state();
  Manifest next = manifest_;
  std::erase_if(next.files, [&](const ManifestFile& file) {
    return std::any_of(merged_from.segments.begin(), merged_from.segments.end(),
                       [&](const SegmentState& s) {
                         return std::find(file.segments.begin(), file.segments.end(), s.number) !=
                                file.segments.end();
                       });
  });
  std::vector<SegmentState> replacement;
  std::vector<ManifestFile> written;
  if (merged) {
    auto live = std::make_shared<index::RowSet>(rows.size(), true);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!state.segments[first + rows[i].segment].is_live(rows[i].row)) {
        live->erase(i);
      }
    }
    merged->state.live_rows = static_cast<uint32_t>(live->count());
    if (merged->state.live_rows < rows.size()) {
      merged->state.live = std::move(live);
    }
    written = merged->files;
    next.files.insert(next.files.end(), written.begin(), written.end());
    replacement.push_back(std::move(merged->state));
  }
  const auto begin = state.segments.begin() + static_cast<ptrdiff_t>(first);
  const auto after =
      state.segments.erase(begin, begin + static_cast<ptrdiff_t>(merged_from.segments.size()));
  state.segments.insert(after, replacement.begin(), replacement.end());
  for (BuiltIndex& index : built) {
    written.push_back(index.file);
    install_index(std::move(index), state, next);
  }
  place_indexes(state);
  Result<void> saved = check_writable();
  bool replaced = false;
  if (saved) {
    saved = save(next, state, replaced);
  }
  if (!saved) {
    if (!replaced) {
      discard_files(written);
    }
    return saved;
  }
  std::swap(manifest_, next);
  publish(std::move(state));
  discard_unlisted(next);
  return {};
}

bool CollectionEngine::work(WorkKind kind, std::stop_token stop) {
  return kind == WorkKind::Seal ? work_on_seal() : work_on_maintenance(stop);
}

/// Before the large files are read whole; false when it was ended.
bool CollectionEngine::wait_for_first_questions(const std::stop_token& stop) {
  if (unchecked_.empty() && unchecked_indexes_.empty()) {
    return true;
  }
  const auto until = opened_ + std::chrono::milliseconds(options_.check_delay_ms);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_until(lock, stop, until, [] { return false; });
  return !stop.stop_requested();
}

/// One merge, or one index; failures are told and tried again after the next seal.
bool CollectionEngine::work_on_maintenance(const std::stop_token& stop) {
  const auto operation = operations_.try_begin(stop);
  if (operation == nullptr) {
    return false;  // who runs instead wakes the background when it ends
  }
  if (!wait_for_first_questions(operation->stop()) || !catch_up(*operation)) {
    return false;
  }
  const std::shared_ptr<const StateSnapshot> snapshot = current();
  std::vector<SegmentSize> sizes;
  for (const SegmentState& segment : snapshot->state().segments) {
    sizes.push_back({segment.segment->rows(), segment.live_rows});
  }
  const std::optional<MergeRange> range =
      choose_merge(sizes, options_.tail_rows_max, options_.merge_segments, kSegmentRowsMax);
  if (!range) {
    return work_on_indexes(*operation);
  }
  operation->rename("merge");
  const Result<void> merged = merge_range(range->first, range->count, *operation);
  if (!merged && merged.error().code != Code::Interrupted) {
    base::log_error("store", "collection '{}' could not merge {} segments (they stay): {}", name_,
                    range->count, merged.error().message);
  }
  if (!merged && merged.error().code == Code::ResourceExhausted) {
    return work_on_indexes(*operation);  // which may need less
  }
  return merged.has_value();
}

}  // namespace sibyl::store
