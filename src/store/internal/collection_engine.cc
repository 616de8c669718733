#include "store/internal/collection_engine.h"

#include <set>

#include "text/utf8.h"

namespace sibyl::store {
namespace {

constexpr size_t kFieldNameBytesMax = 256;

Result<void> check_field_name(const std::string& name, std::set<std::string>& known) {
  if (name.empty() || name.size() > kFieldNameBytesMax || !text::is_utf8(name)) {
    return fail_field(Code::InvalidArgument, "fields",
                      "a field's name has 1 to {} bytes of UTF-8; '{}' has {}", kFieldNameBytesMax,
                      text::cut_utf8(name, 64), name.size());
  }
  if (!known.insert(name).second) {
    return fail_field(Code::InvalidArgument, "fields", "field '{}' is there twice", name);
  }
  return {};
}

}  // namespace

Result<void> CollectionEngine::check_schema(const Schema& schema, const DatabaseOptions& options) {
  if (schema.text_fields.size() > kFieldsMax || schema.vector_fields.size() > kFieldsMax) {
    return fail_field(Code::TooLarge, "fields", "{} text and {} vector fields; at most {} of each",
                      schema.text_fields.size(), schema.vector_fields.size(), kFieldsMax);
  }
  std::set<std::string> texts;
  for (const std::string& field : schema.text_fields) {
    if (Result<void> checked = check_field_name(field, texts); !checked) {
      return checked;
    }
  }
  std::set<std::string> vectors;
  for (const VectorField& field : schema.vector_fields) {
    if (Result<void> checked = check_field_name(field.name, vectors); !checked) {
      return checked;
    }
    if (field.dimension == 0 || field.dimension > options.dimension_max) {
      return fail_field(Code::InvalidArgument, field.name,
                        "vector field '{}' has dimension {}; 1 to {} are possible (dimension_max)",
                        field.name, field.dimension, options.dimension_max);
    }
  }
  return {};
}

Result<void> CollectionEngine::create_files(const Folder& folder, const Schema& schema,
                                            const std::string& settings) {
  Manifest manifest;
  manifest.schema = schema;
  manifest.settings = settings;
  manifest.first_log = 1;
  manifest.next_number = 2;
  auto log = LogWriter::create(folder.files(), folder.path_of(Folder::log_name(1)), 1);
  if (!log) {
    return pass_on(log);
  }
  return base::replace_file(folder.path_of(kManifestName), encode_manifest(manifest),
                            folder.files());
}

std::shared_ptr<const StateSnapshot> CollectionEngine::current() const {
  const std::lock_guard lock(published_lock_);
  return published_;
}

/// A reader that holds the last of an old state would free its rows and unmap its files: that is
/// left to the background.
std::shared_ptr<const Snapshot> CollectionEngine::snapshot() const {
  std::shared_ptr<const StateSnapshot> held = current();
  const StateSnapshot* const shown = held.get();
  return {shown, [held = std::move(held), background = background_](const Snapshot*) mutable {
            if (held.use_count() == 1) {
              background->drop_later(std::move(held));
            }
          }};
}

void CollectionEngine::publish(CollectionState state) {
  auto next = std::make_shared<const StateSnapshot>(std::move(state));
  const std::lock_guard lock(published_lock_);
  // The old state ends after the lock is released, where its last holder lets go.
  published_.swap(next);
}

void CollectionEngine::set_dropped(bool dropped) {
  const std::lock_guard turn(turn_);
  dropped_ = dropped;
}

namespace {

std::vector<VectorFieldStatistics> vector_statistics(const CollectionState& state) {
  std::vector<VectorFieldStatistics> fields;
  for (size_t i = 0; i < state.schema->vector_fields.size(); ++i) {
    VectorFieldStatistics field;
    field.name = state.schema->vector_fields[i].name;
    field.dimension = state.schema->vector_fields[i].dimension;
    for (const SegmentState& segment : state.segments) {
      field.vectors += segment.vectors[i]->vectors();
      field.resident_bytes += segment.vectors[i]->resident_bytes();
      field.mapped_bytes += segment.vectors[i]->mapped_bytes();
    }
    uint64_t largest = 0;
    for (const DerivedState& derived : state.derived) {
      if (derived.field != i) {
        continue;
      }
      field.indexed_vectors += derived.index->vectors();
      field.resident_bytes += derived.index->resident_bytes();
      field.mapped_bytes += derived.index->mapped_bytes();
      if (derived.index->vectors() > largest) {
        largest = derived.index->vectors();
        field.index = derived.index->kind();
      }
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

CollectionStatistics CollectionEngine::statistics() const {
  const std::shared_ptr<const StateSnapshot> snapshot = current();
  const CollectionState& state = snapshot->state();
  CollectionStatistics statistics;
  statistics.live_rows = state.live_rows;
  statistics.sealed_segments = state.segments.size();
  for (const SegmentState& segment : state.segments) {
    statistics.deleted_rows += segment.segment->rows() - segment.live_rows;
  }
  statistics.tail_rows = state.tail.live_rows;
  statistics.tail_rows_all = state.tail.rows;
  statistics.sequence = state.sequence;
  statistics.vector_fields = vector_statistics(state);
  statistics.operation = operations_.running();
  {
    const std::lock_guard lock(published_lock_);
    statistics.trouble = trouble_;
  }
  if (const Result<std::vector<base::FileEntry>> entries = folder_.files().list(folder_.path())) {
    for (const base::FileEntry& entry : *entries) {
      uint64_t number = 0;
      statistics.disk_bytes += entry.bytes;
      if (Folder::parse_log_name(entry.name, number)) {
        statistics.log_bytes += entry.bytes;
        ++statistics.logs;
      }
    }
  }
  return statistics;
}

namespace {

Result<void> verify_file(const ManifestFile& file, std::shared_ptr<const base::FileView> view,
                         const std::string& path, size_t text_fields,
                         const std::shared_ptr<const StackedVectors>& vectors) {
  if (file.kind == kRowsKind) {
    auto opened = Segment::open(std::move(view), path, text_fields);
    return opened ? Result<void>() : pass_on(opened);
  }
  if (file.kind == kPostingsKind) {
    auto opened = index::open_postings(std::move(view), path);
    return opened ? Result<void>() : pass_on(opened);
  }
  if (is_derived_kind(file.kind) && vectors == nullptr) {
    return index::check_container(*view, path);  // it is not opened yet
  }
  auto opened = vectors != nullptr ? open_derived(file.kind, std::move(view), path, vectors)
                                   : index::open_exact_index(std::move(view), path);
  return opened ? Result<void>() : pass_on(opened);
}

tl::unexpected<Error> unreadable(Error error) {
  error.code = error.code == Code::NotFound ? Code::DataLoss : error.code;
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<void> CollectionEngine::verify() const {
  struct Item {
    ManifestFile file;
    std::shared_ptr<const base::FileView> view;
    std::shared_ptr<const StackedVectors> vectors;  ///< that an index is made from
  };
  std::vector<Item> items;
  std::vector<std::pair<uint64_t, std::shared_ptr<const base::FileView>>> logs;
  uint64_t log_end = UINT64_MAX;
  size_t text_fields = 0;
  uint64_t sealed_sequence = 0;
  {
    // Only opening takes the writer's turn; files stay readable after they are removed.
    const std::lock_guard turn(turn_);
    text_fields = manifest_.schema.text_fields.size();
    sealed_sequence = manifest_.sealed_sequence;
    Result<std::string> manifest =
        base::read_file(folder_.path_of(kManifestName), kManifestBytesMax, folder_.files());
    if (!manifest) {
      return unreadable(std::move(manifest.error()));
    }
    if (auto decoded = decode_manifest(*manifest, folder_.path_of(kManifestName)); !decoded) {
      return pass_on(decoded);
    }
    for (const ManifestFile& file : manifest_.files) {
      auto view = folder_.map(file.name);
      if (!view) {
        return unreadable(std::move(view.error()));
      }
      items.push_back({file, std::move(*view), nullptr});
      for (const DerivedState& derived : current()->state().derived) {
        if (derived.name == file.name) {
          items.back().vectors = derived.vectors;
        }
      }
    }
    for (const uint64_t log : logs_) {
      auto view = folder_.map(Folder::log_name(log));
      if (!view) {
        return unreadable(std::move(view.error()));
      }
      logs.emplace_back(log, std::move(*view));
    }
    log_end = log_->bytes();
  }
  for (Item& item : items) {
    Result<void> checked = verify_file(item.file, std::move(item.view),
                                       folder_.path_of(item.file.name), text_fields, item.vectors);
    if (!checked) {
      return checked;
    }
  }
  for (size_t i = 0; i < logs.size(); ++i) {
    const std::string path = folder_.path_of(Folder::log_name(logs[i].first));
    std::string_view bytes = logs[i].second->bytes();
    if (i + 1 == logs.size()) {
      bytes = bytes.substr(0, log_end);
    }
    Result<LogContents> contents = read_log(bytes, path, logs[i].first, sealed_sequence);
    if (!contents) {
      return pass_on(contents);
    }
    if (!contents->header_ok || contents->torn ||
        (i + 1 == logs.size() && bytes.size() < log_end)) {
      return index::damaged(path, fmt::format("byte {}: a change that was stored is not whole",
                                              contents->header_ok ? contents->end : 0));
    }
  }
  return {};
}

}  // namespace sibyl::store
