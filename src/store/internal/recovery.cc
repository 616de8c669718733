#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/log.h"
#include "store/internal/collection_engine.h"
#include "store/internal/typed_metadata.h"

namespace sibyl::store {
namespace {

/// A log file that was read; `bytes` keeps what the records point into.
struct ReadLog {
  uint64_t number = 0;
  std::shared_ptr<const base::FileView> bytes;
  LogContents contents;
};

tl::unexpected<Error> changes_lost(const std::string& path, std::string_view what,
                                   uint64_t sequence) {
  return index::damaged(path, fmt::format("{}; the changes after sequence {} are lost unless the "
                                          "file is restored from a copy",
                                          what, sequence));
}

/// Decides which log is the current one: the last that holds records, or the empty one that
/// follows a log that ended. Every log before it must be whole.
Result<size_t> find_current(const Folder& folder, const std::vector<ReadLog>& logs,
                            uint64_t sealed_sequence) {
  size_t last = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (logs[i].contents.records > 0) {
      last = i;
    }
  }
  uint64_t sequence = sealed_sequence;
  for (size_t i = 0; i <= last; ++i) {
    const std::string path = folder.path_of(Folder::log_name(logs[i].number));
    if (!logs[i].contents.header_ok) {
      return changes_lost(path, "its header is damaged", sequence);
    }
    if (i < last && !logs[i].contents.ended) {
      return changes_lost(path, "its end is missing", sequence);
    }
    for (const LogRecord& record : logs[i].contents.changes) {
      if (record.header.sequence > sequence + 1) {
        return changes_lost(path, fmt::format("the change after sequence {} is missing", sequence),
                            sequence);
      }
      sequence = std::max(sequence, record.header.sequence);
    }
  }
  if (logs[last].contents.ended) {
    if (last + 1 == logs.size() || !logs[last + 1].contents.header_ok) {
      return changes_lost(folder.path_of(Folder::log_name(logs[last].number)),
                          "the log that follows it is missing or damaged", sequence);
    }
    return last + 1;
  }
  return last;
}

}  // namespace

Result<std::shared_ptr<CollectionEngine>> CollectionEngine::open(std::string name, Folder folder,
                                                                 const DatabaseOptions& options,
                                                                 SharedParts shared) {
  const std::string context = fmt::format("collection '{}'", name);
  std::shared_ptr<CollectionEngine> engine(
      new CollectionEngine(std::move(name), std::move(folder), options, std::move(shared)));
  Result<void> done = engine->load_segments();
  if (done) {
    done = engine->load_logs();
  }
  if (done) {
    done = engine->remove_orphans();
  }
  if (!done) {
    return pass_on(done, context);
  }
  engine->background_->wake(WorkKind::Seal, engine);
  engine->background_->wake(WorkKind::Maintain, engine);
  return engine;
}

Result<void> CollectionEngine::load_segments() {
  const std::string path = folder_.path_of(kManifestName);
  Result<std::string> bytes = base::read_file(path, kManifestBytesMax, folder_.files());
  if (!bytes && bytes.error().code == Code::NotFound) {
    return index::damaged(path, "it is missing, so nobody knows which files count; restore it");
  }
  if (!bytes) {
    return pass_on(bytes);
  }
  Result<Manifest> manifest = decode_manifest(*bytes, path);
  if (!manifest) {
    return pass_on(manifest);
  }
  manifest_ = std::move(*manifest);
  if (Result<void> checked = check_schema(manifest_.schema, options_); !checked) {
    return pass_on(checked);
  }
  CollectionState state;
  state.schema = std::make_shared<const Schema>(manifest_.schema);
  Result<std::shared_ptr<const text::Analyzer>> analyzer =
      text::Analyzer::create(manifest_.schema.language);
  if (!analyzer) {
    return pass_on(analyzer);
  }
  state.analyzer = std::move(*analyzer);
  state.settings = manifest_.settings;
  state.damage = std::make_shared<Damage>();
  state.sequence = manifest_.sealed_sequence;
  state.text_lengths.assign(manifest_.schema.text_fields.size(), 0);
  for (const ManifestSegment& entry : manifest_.segments) {
    Result<SegmentState> segment = open_segment(folder_, manifest_, entry, *state.analyzer,
                                                options_.checked_later_bytes_min, unchecked_);
    if (!segment) {
      return pass_on(segment);
    }
    state.live_rows += segment->live_rows;
    for (size_t field = 0; field < segment->postings.size(); ++field) {
      state.text_lengths[field] += segment->postings[field]->total_length();
      for (const uint32_t row : entry.dead) {
        state.text_lengths[field] -= segment->postings[field]->length(row);
      }
    }
    state.segments.push_back(std::move(*segment));
  }
  load_indexes(state);
  publish(std::move(state));
  return {};
}

namespace {

/// The logs that count, in order.
Result<std::vector<ReadLog>> read_logs(const Folder& folder, const Manifest& manifest,
                                       const std::vector<base::FileEntry>& entries) {
  std::vector<uint64_t> numbers;
  for (const base::FileEntry& entry : entries) {
    uint64_t number = 0;
    if (Folder::parse_log_name(entry.name, number) && number >= manifest.first_log) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  if (numbers.empty() || numbers.front() != manifest.first_log) {
    return changes_lost(folder.path_of(Folder::log_name(manifest.first_log)), "it is missing",
                        manifest.sealed_sequence);
  }
  std::vector<ReadLog> logs;
  uint64_t sequence = manifest.sealed_sequence;
  for (const uint64_t number : numbers) {
    const std::string name = Folder::log_name(number);
    auto view = folder.map(name);
    if (!view) {
      return pass_on(view);
    }
    auto contents = read_log((*view)->bytes(), folder.path_of(name), number, sequence);
    if (!contents) {
      return pass_on(contents);
    }
    if (contents->copy && number != manifest.first_log) {
      continue;  // of a start that was interrupted; the logs that it repeats still count
    }
    if (!contents->changes.empty()) {
      sequence = std::max(sequence, contents->changes.back().header.sequence);
    }
    logs.push_back({number, std::move(*view), std::move(*contents)});
  }
  return logs;
}

}  // namespace

Result<void> CollectionEngine::load_logs() {
  // The manifest that was read may be one whose name was not synced; only then may others go.
  if (Result<void> synced = folder_.sync(); !synced) {
    return synced;
  }
  Result<std::vector<base::FileEntry>> entries = folder_.files().list(folder_.path());
  if (!entries) {
    return pass_on(entries);
  }
  for (const base::FileEntry& entry : *entries) {
    manifest_.next_number = std::max(manifest_.next_number, Folder::number_in(entry.name) + 1);
  }
  Result<std::vector<ReadLog>> logs = read_logs(folder_, manifest_, *entries);
  if (!logs) {
    return pass_on(logs);
  }
  Result<size_t> current_log = find_current(folder_, *logs, manifest_.sealed_sequence);
  if (!current_log) {
    return pass_on(current_log);
  }
  std::vector<LogRecord> records;
  StateEditor editor(current()->state(), tail_ids_);
  for (size_t i = 0; i <= *current_log; ++i) {
    const ReadLog& log = (*logs)[i];
    logs_.push_back(log.number);
    Result<void> replayed =
        replay(log.contents.changes, folder_.path_of(Folder::log_name(log.number)), editor);
    if (!replayed) {
      return replayed;
    }
    records.insert(records.end(), log.contents.changes.begin(), log.contents.changes.end());
  }
  publish(editor.finish());
  const ReadLog& last = (*logs)[*current_log];
  // The end of a log before the last may be in memory only, as a mark may that is missing.
  if (*current_log > 0 || last.contents.torn || !last.contents.marked ||
      *current_log + 1 < logs->size()) {
    return take_over_logs(records, last.number, last.contents.end);
  }
  auto opened = LogWriter::open(folder_.files(), folder_.path_of(Folder::log_name(last.number)),
                                last.number, last.contents.end);
  if (!opened) {
    return pass_on(opened);
  }
  log_ = std::move(*opened);
  return {};
}

Result<void> CollectionEngine::replay(std::span<const LogRecord> records, const std::string& path,
                                      StateEditor& editor) {
  const CollectionState& state = current()->state();
  for (const LogRecord& record : records) {
    const uint64_t sequence = record.header.sequence;
    if (sequence <= editor.sequence()) {
      continue;
    }
    if (record.header.type == RecordType::Delete) {
      std::string id;
      if (!decode_delete(record.payload, id)) {
        return changes_lost(path, fmt::format("byte {} does not decode", record.offset),
                            sequence - 1);
      }
      editor.remove(id, sequence);
      continue;
    }
    auto row = std::make_shared<TailRow>();
    uint64_t generation = 0;
    bool right = decode_put(record.payload, row->row, generation) &&
                 generation == state.schema->generation &&
                 row->row.texts.size() == state.schema->text_fields.size() &&
                 row->row.vectors.size() == state.schema->vector_fields.size();
    for (size_t field = 0; right && field < row->row.vectors.size(); ++field) {
      right = index::check_vectors(row->row.vectors[field],
                                   state.schema->vector_fields[field].dimension)
                  .has_value();
    }
    Result<std::string> typed = encode_typed_metadata(row->row.metadata);
    if (!right || !typed) {
      return changes_lost(path, fmt::format("byte {} does not decode", record.offset),
                          sequence - 1);
    }
    row->typed = std::move(*typed);
    row->id_hash = base::hash64(row->row.id);
    row->row_key = record.header.row_key;
    for (const std::string& text : row->row.texts) {
      row->texts.emplace_back(analyze_text(*state.analyzer, text));
    }
    editor.put(std::move(row), sequence);
  }
  return {};
}

/// After a crash the bytes of the last group may be in memory only, and a system that failed to
/// write them once may never try again. So they are written anew, and synced, before anything
/// builds on them.
Result<void> CollectionEngine::rewrite_logs(const std::vector<LogRecord>& records, bool& replaced) {
  const uint64_t number = take_number();
  const std::string name = Folder::log_name(number);
  auto created = LogWriter::create(folder_.files(), folder_.path_of(name), number, true);
  Result<void> done = created ? Result<void>() : pass_on(created);
  size_t added = 0;
  for (const LogRecord& record : records) {
    if (done && record.header.sequence > manifest_.sealed_sequence) {
      (*created)->add(record.header.type, record.header.sequence, record.header.row_key,
                      record.payload, base::crc32(record.payload));
      ++added;
    }
  }
  if (done && added > 0) {
    done = (*created)->commit();
  }
  Manifest next = manifest_;
  next.first_log = number;
  if (done) {
    done = save(next, current()->state(), replaced);
  }
  if (!done) {
    if (!replaced && folder_.files().exists(folder_.path_of(name))) {
      folder_.discard(name);
    }
    return done;
  }
  base::log_info("store", "collection '{}' was not closed: {} changes were taken over from its log",
                 name_, added);
  log_ = std::move(*created);
  logs_.push_back(number);
  std::swap(manifest_, next);
  discard_unlisted(next);
  return {};
}

/// Takes over the logs; where that fails, as on a full disk, the collection answers and takes no
/// changes.
Result<void> CollectionEngine::take_over_logs(const std::vector<LogRecord>& records,
                                              uint64_t last_log, uint64_t end) {
  bool replaced = false;
  Result<void> rewritten = rewrite_logs(records, replaced);
  if (rewritten || replaced) {
    return rewritten;
  }
  auto opened =
      LogWriter::open(folder_.files(), folder_.path_of(Folder::log_name(last_log)), last_log, end);
  if (!opened) {
    return rewritten;
  }
  log_ = std::move(*opened);
  refuse(rewritten.error());
  return {};
}

/// Files of ours that nothing names: what a crash left behind.
Result<void> CollectionEngine::remove_orphans() {
  std::set<std::string> wanted;
  for (const ManifestFile& file : manifest_.files) {
    wanted.insert(file.name);
  }
  for (const uint64_t log : logs_) {
    wanted.insert(Folder::log_name(log));
  }
  Result<std::vector<base::FileEntry>> entries = folder_.files().list(folder_.path());
  if (!entries) {
    return pass_on(entries);
  }
  for (const base::FileEntry& entry : *entries) {
    if (!entry.directory && Folder::is_ours(entry.name) && !wanted.contains(entry.name)) {
      folder_.discard(entry.name);
    }
  }
  return {};
}

}  // namespace sibyl::store
