#include <algorithm>

#include "base/log.h"
#include "store/internal/collection_engine.h"

namespace sibyl::store {

Result<void> CollectionEngine::seal() {
  const std::lock_guard sealing(sealing_);
  return seal_tail_now();
}

Result<void> CollectionEngine::seal_tail_now() {
  std::optional<Seal> seal;
  {
    const std::lock_guard turn(turn_);
    Result<std::optional<Seal>> begun = begin_seal();
    if (!begun) {
      return pass_on(begun);
    }
    seal = std::move(*begun);
  }
  if (!seal) {
    return {};
  }
  if (Result<void> written = write_seal(*seal); !written) {
    return written;
  }
  const std::lock_guard turn(turn_);
  return finish_seal(std::move(*seal));
}

Result<void> CollectionEngine::seal_under_turn() {
  Result<std::optional<Seal>> begun = begin_seal();
  if (!begun) {
    return pass_on(begun);
  }
  if (!*begun) {
    return {};
  }
  Result<void> done = write_seal(**begun);
  return done ? finish_seal(std::move(**begun)) : done;
}

/// Ends the log of the tail's rows, so that what is written from now on stands in another one.
/// Nothing to do: no change since the last seal.
Result<std::optional<CollectionEngine::Seal>> CollectionEngine::begin_seal() {
  if (Result<void> writable = check_writable(); !writable) {
    return pass_on(writable);
  }
  Seal seal;
  seal.from = current();
  if (seal.from->sequence() == manifest_.sealed_sequence) {
    return std::optional<Seal>();
  }
  if (Result<void> rotated = rotate_log(); !rotated) {
    return pass_on(rotated);
  }
  seal.first_log = log_->number();
  seal.number = take_number();
  seal.index_number = take_number();
  return seal;
}

Result<void> CollectionEngine::write_seal(Seal& seal) const {
  const CollectionState& state = seal.from->state();
  if (state.tail.live_rows == 0) {
    return {};
  }
  Result<SealedSegment> segment = seal_tail(folder_, state, seal.number);
  if (!segment) {
    return pass_on(segment);
  }
  seal.segment = std::move(*segment);
  write_seal_indexes(seal);
  return {};
}

/// Without them the background makes up for it.
void CollectionEngine::write_seal_indexes(Seal& seal) const {
  const CollectionState& state = seal.from->state();
  const SegmentState& made = seal.segment->state;
  for (size_t field = 0; field < state.schema->vector_fields.size(); ++field) {
    uint64_t vectors = made.vectors[field]->vectors();
    for (const SegmentState& segment : state.segments) {
      vectors += segment.vectors[field]->vectors();
    }
    if (made.vectors[field]->vectors() == 0 || vectors < options_.flat_vectors_min) {
      continue;
    }
    IndexPlan plan;
    plan.segments = {&made, 1};
    plan.field = field;
    plan.generation = state.schema->generation;
    plan.number = seal.index_number;
    Result<BuiltIndex> built = build_index(folder_, plan, options_, *memory_, {});
    if (!built) {
      base::log_warning("store", "collection '{}': new rows are compared one by one: {}", name_,
                        built.error().message);
      continue;
    }
    seal.segment->files.push_back(built->file);
    seal.indexes.push_back(std::move(*built));
  }
}

namespace {

/// What is left of a tail without its first rows.
Tail tail_after(const Tail& tail, uint32_t first, const Schema& schema) {
  Tail rest;
  auto live = std::make_shared<index::RowSet>(tail.rows - first);
  for (uint32_t row = first; row < tail.rows; ++row) {
    if (tail.live->contains(row)) {
      live->insert(rest.rows);
      ++rest.live_rows;
    }
    rest.append(tail.blocks[row / kTailBlockRows]->rows[row % kTailBlockRows], schema);
  }
  if (rest.rows > 0) {
    rest.live = std::move(live);
  }
  return rest;
}

/// Rows of the sealed segment that were deleted or replaced while it was written.
void take_over_deletes(const Tail& then, const Tail& now, SegmentState& sealed) {
  auto live = std::make_shared<index::RowSet>(sealed.segment->rows(), true);
  uint32_t row = 0;
  then.live->for_each([&](size_t at) {
    if (!now.live->contains(at)) {
      live->erase(row);
      --sealed.live_rows;
    }
    ++row;
  });
  if (sealed.live_rows < sealed.segment->rows()) {
    sealed.live = std::move(live);
  }
}

}  // namespace

/// The segment takes the place of the tail's first rows; a snapshot shows them once, before as
/// after.
Result<void> CollectionEngine::finish_seal(Seal seal) {
  const std::shared_ptr<const StateSnapshot> before = current();
  const Tail& then = seal.from->state().tail;
  CollectionState state = before->state();
  state.tail = tail_after(state.tail, then.rows, *state.schema);
  Manifest next = manifest_;
  std::vector<ManifestFile> written;
  if (seal.segment) {
    take_over_deletes(then, before->state().tail, seal.segment->state);
    written = seal.segment->files;
    std::copy_if(written.begin(), written.end(), std::back_inserter(next.files),
                 [](const ManifestFile& file) { return !is_derived_kind(file.kind); });
    state.segments.push_back(std::move(seal.segment->state));
    for (BuiltIndex& index : seal.indexes) {
      install_index(std::move(index), state, next);
    }
    place_indexes(state);
  }
  next.sealed_sequence = seal.from->sequence();
  next.first_log = seal.first_log;
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
  tail_ids_ = index_tail(state.tail);
  publish(std::move(state));
  seal_retry_bytes_ = 0;
  discard_unlisted(next);
  background_->wake(WorkKind::Maintain, shared_from_this());
  return {};
}

bool CollectionEngine::seal_wanted() const {
  return !refusal_ && !dropped_ && tail_is_full(1) && unsealed_log_bytes() >= seal_retry_bytes_;
}

/// The rows are durable in the log, so a failure is told and tried again later.
Result<void> CollectionEngine::try_seal() {
  Result<void> sealed = seal_tail_now();
  if (!sealed) {
    const std::lock_guard turn(turn_);
    const uint64_t bytes = unsealed_log_bytes();
    seal_retry_bytes_ = bytes + bytes / 4 + 1;
    base::log_error("store",
                    "collection '{}' could not seal its last rows (they stay in the log): {}",
                    name_, sealed.error().message);
  }
  return sealed;
}

bool CollectionEngine::work_on_seal() {
  const std::lock_guard sealing(sealing_);
  const auto wanted = [this] {
    const std::lock_guard turn(turn_);
    return seal_wanted();
  };
  return wanted() && try_seal() && wanted();
}

/// From here on changes go to a new log; the old one says that it is whole. A log without records
/// is new enough.
Result<void> CollectionEngine::rotate_log() {
  if (log_->usable() && log_->empty()) {
    return {};
  }
  const uint64_t number = take_number();
  const std::string name = Folder::log_name(number);
  Result<std::unique_ptr<LogWriter>> next =
      LogWriter::create(folder_.files(), folder_.path_of(name), number);
  Result<void> done;
  if (!next) {
    done = pass_on(next);
  } else {
    done = folder_.sync();
  }
  if (done) {
    done = log_->end(current()->state().sequence);
    if (!log_->usable()) {
      refuse(done ? Error{Code::IoError, log_->path() + " could not be mended", {}} : done.error());
      return tl::unexpected<Error>(*refusal_);
    }
  }
  if (!done) {
    if (folder_.files().exists(folder_.path_of(name))) {
      folder_.discard(name);
    }
    return done;
  }
  ended_log_bytes_ += log_->bytes();
  log_ = std::move(*next);
  logs_.push_back(number);
  return {};
}

Result<void> CollectionEngine::save(Manifest& manifest, const CollectionState& state,
                                    bool& replaced) {
  manifest.schema = *state.schema;
  manifest.settings = state.settings;
  manifest.next_number = std::max(manifest.next_number, manifest_.next_number);
  manifest.segments.clear();
  for (const SegmentState& segment : state.segments) {
    ManifestSegment entry;
    entry.number = segment.number;
    entry.rows = segment.segment->rows();
    entry.first_sequence = segment.segment->sequence(0);
    entry.last_sequence = segment.segment->sequence(entry.rows - 1);
    for (uint32_t row = 0; row < entry.rows && segment.live != nullptr; ++row) {
      if (!segment.live->contains(row)) {
        entry.dead.push_back(row);
      }
    }
    manifest.segments.push_back(std::move(entry));
  }
  const std::string path = folder_.path_of(kManifestName);
  const std::string bytes = encode_manifest(manifest);
  Result<void> done = folder_.sync();
  if (done) {
    done = base::replace_file(path, bytes, folder_.files());
  }
  if (!done) {
    const Result<std::string> found = base::read_file(path, kManifestBytesMax, folder_.files());
    replaced = !found || *found == bytes;
  }
  return done;
}

/// Removes the files and logs that the manifest no longer names; snapshots keep theirs mapped.
void CollectionEngine::discard_unlisted(const Manifest& before) {
  for (const ManifestFile& file : before.files) {
    const auto same = [&](const ManifestFile& other) { return other.name == file.name; };
    if (std::none_of(manifest_.files.begin(), manifest_.files.end(), same)) {
      folder_.discard(file.name);
    }
  }
  while (!logs_.empty() && logs_.front() < manifest_.first_log) {
    folder_.discard(Folder::log_name(logs_.front()));
    logs_.erase(logs_.begin());
  }
  if (manifest_.first_log == log_->number()) {
    ended_log_bytes_ = 0;
  }
}

void CollectionEngine::discard_files(std::span<const ManifestFile> files) const {
  for (const ManifestFile& file : files) {
    folder_.discard(file.name);
  }
}

Result<void> CollectionEngine::set_settings(const std::string& settings) {
  const std::lock_guard turn(turn_);
  if (Result<void> writable = check_writable(); !writable) {
    return writable;
  }
  CollectionState state = current()->state();
  state.settings = settings;
  Manifest next = manifest_;
  bool replaced = false;
  if (Result<void> saved = save(next, state, replaced); !saved) {
    return saved;
  }
  manifest_ = std::move(next);
  publish(std::move(state));
  return {};
}

}  // namespace sibyl::store
