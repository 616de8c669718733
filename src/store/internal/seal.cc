#include <algorithm>

#include "store/internal/collection_engine.h"

namespace sibyl::store {

Result<void> CollectionEngine::seal() {
  const std::lock_guard turn(turn_);
  if (Result<void> writable = check_writable(); !writable) {
    return writable;
  }
  return seal_locked();
}

Result<void> CollectionEngine::seal_locked() {
  const std::shared_ptr<const StateSnapshot> before = current();
  const CollectionState& state = before->state();
  if (state.sequence == manifest_.sealed_sequence) {
    return {};
  }
  if (Result<void> rotated = rotate_log(); !rotated) {
    return rotated;
  }
  CollectionState sealed = state;
  sealed.tail = {};
  Manifest next = manifest_;
  std::vector<ManifestFile> written;
  if (state.tail.live_rows > 0) {
    Result<SealedSegment> segment = seal_tail(folder_, state, take_number());
    if (!segment) {
      return pass_on(segment);
    }
    written = segment->files;
    next.files.insert(next.files.end(), written.begin(), written.end());
    sealed.segments.push_back(std::move(segment->state));
  }
  next.sealed_sequence = state.sequence;
  next.first_log = log_->number();
  bool replaced = false;
  if (Result<void> saved = save(next, sealed, replaced); !saved) {
    for (const ManifestFile& file : written) {
      if (!replaced) {
        folder_.discard(file.name);
      }
    }
    return saved;
  }
  std::swap(manifest_, next);
  publish(std::move(sealed));
  tail_ids_.clear();
  seal_retry_rows_ = 0;
  discard_unlisted(next);
  return {};
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
