#include "answer/internal/document_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "answer/internal/away_model.h"
#include "answer/internal/careful_encoding.h"

namespace sibyl::answer::internal {
namespace {

/// Switches that may end while one batch is being written.
constexpr int kAttemptsMax = 8;

bool names_one_row(Code code) {
  return code == Code::InvalidData || code == Code::InvalidArgument || code == Code::TooLarge;
}

/// Whether the collection's model is one that is served elsewhere.
bool is_served(EncoderSource& encoders, const store::Schema& schema) {
  const std::string name = schema.model.substr(0, schema.model.find('@'));
  return !name.empty() && !encoders.served_name(name).empty();
}

}  // namespace

void DocumentWriter::count(store::Outcome outcome, AddReport& report) const {
  ++(outcome == store::Outcome::Added ? report.added : report.updated);
  report.waiting += waits_ ? 1 : 0;
}

Result<void> DocumentWriter::add(IncomingDocument document, AddReport& report) {
  batch_bytes_ += document.document.source.size();
  batch_.push_back(std::move(document));
  if (batch_.size() >= kBatchRowsMax || batch_bytes_ >= kBatchBytesMax) {
    return flush(report);
  }
  return {};
}

Result<void> DocumentWriter::flush(AddReport& report) {
  for (int attempt = 0; attempt < kAttemptsMax && !batch_.empty(); ++attempt) {
    if (stop_.stop_requested()) {
      return fail(Code::Interrupted, "stopped; {} documents are stored, add the rest again",
                  report.added + report.updated);
    }
    auto current = write_once(report);
    if (!current) {
      return pass_on(current);
    }
    if (*current) {
      batch_.clear();
    }
  }
  if (!batch_.empty()) {
    return fail(Code::Unavailable,
                "collection '{}' changed its model {} times while documents were being added; "
                "add them again",
                state_.rows().name(), kAttemptsMax);
  }
  batch_bytes_ = 0;
  return {};
}

void DocumentWriter::drop_unchanged(const StoredSettings& stored, const store::Schema& schema,
                                    AddReport& report) {
  const auto snapshot = state_.rows().snapshot();
  // Only then something will still bring the vectors of a row that has none.
  const bool rows_wait = away_ == Away::Wait && stored.rows_wait && is_served(encoders_, schema);
  std::erase_if(batch_, [&](const IncomingDocument& incoming) {
    const auto there = snapshot->find(incoming.document.id);
    if (!there) {
      return false;
    }
    const auto row = snapshot->row(*there);
    const uint64_t hash = content_hash(incoming.document, stored.settings);
    const bool same = row && (row->content_hash == hash ||
                              (rows_wait && row->content_hash == waiting_hash(hash)));
    report.unchanged += same ? 1 : 0;
    return same;
  });
}

/// False when the collection's model changed meanwhile and the batch must be made again.
Result<bool> DocumentWriter::write_once(AddReport& report) {
  const store::Schema schema = state_.rows().schema();
  auto stored = state_.settings();
  if (!stored) {
    return pass_on(stored);
  }
  const CollectionSettings& settings = stored->settings;
  drop_unchanged(*stored, schema, report);
  waits_ = false;
  auto changes = make_changes(schema, settings);
  if (!changes) {
    return pass_on(changes);
  }
  if (waits_) {
    if (auto noted = note_waiting(schema.generation); !noted) {
      return pass_on(noted);
    }
  }
  auto current = write_rows(std::move(*changes), schema.generation, report);
  if (current && waits_) {
    // Again: a pass over the waiting rows may have begun between the note and the rows.
    if (auto noted = note_waiting(schema.generation); !noted) {
      return pass_on(noted);
    }
  }
  return current;
}

Result<std::vector<store::Change>> DocumentWriter::make_changes(
    const store::Schema& schema, const CollectionSettings& settings) {
  const bool has_vectors = !schema.vector_fields.empty() && !batch_.empty();
  std::shared_ptr<encoder::Encoder> encoder;
  if (has_vectors) {
    auto found = encoders_.find(schema.model);
    waits_ = !found && may_wait(found.error(), schema);
    if (!found && !waits_) {
      return pass_on(found, fmt::format("model of collection '{}'", state_.rows().name()));
    }
    encoder = found ? *found : nullptr;
  }
  std::vector<PassageTable> passages;
  std::vector<DocumentParts> parts;
  passages.reserve(batch_.size());
  for (const IncomingDocument& incoming : batch_) {
    passages.push_back(
        make_passages(incoming.document, settings, encoder ? encoder->tokenizer() : nullptr));
    parts.push_back({&incoming.document, &passages.back()});
  }
  std::vector<store::Change> changes;
  changes.reserve(parts.size());
  for (const DocumentParts& part : parts) {
    changes.push_back(
        {store::Change::Kind::Put, make_row(*part.document, *part.passages, settings)});
  }
  if (has_vectors) {
    if (auto added = add_vectors(parts, schema, settings, encoder.get(), changes); !added) {
      return pass_on(added);
    }
  }
  return changes;
}

bool DocumentWriter::may_wait(const Error& error, const store::Schema& schema) const {
  return away_ == Away::Wait && is_away(error) && is_served(encoders_, schema);
}

Result<std::vector<std::optional<std::vector<std::vector<float>>>>> DocumentWriter::make_vectors(
    std::span<const DocumentParts> parts, const store::Schema& schema, bool chunking,
    encoder::Encoder* encoder) {
  std::vector<std::optional<std::vector<std::vector<float>>>> none(parts.size());
  if (encoder == nullptr) {
    return none;
  }
  const auto encode = [&](std::span<const DocumentParts> some) {
    return encode_documents(some, chunking, *encoder, stop_);
  };
  if (away_ == Away::Fail) {
    return encode_carefully(parts, encode, *encoder, stop_);
  }
  auto vectors = encode(parts);
  if (!vectors) {
    waits_ = may_wait(vectors.error(), schema);
    return waits_ ? none
                  : Result<std::vector<std::optional<std::vector<std::vector<float>>>>>(
                        tl::unexpected<Error>(vectors.error()));
  }
  return std::vector<std::optional<std::vector<std::vector<float>>>>(
      std::make_move_iterator(vectors->begin()), std::make_move_iterator(vectors->end()));
}

Result<void> DocumentWriter::add_vectors(std::span<const DocumentParts> parts,
                                         const store::Schema& schema,
                                         const CollectionSettings& settings,
                                         encoder::Encoder* encoder,
                                         std::vector<store::Change>& changes) {
  auto vectors = make_vectors(parts, schema, settings.chunking, encoder);
  if (!vectors) {
    return pass_on(vectors);
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    store::Row& row = changes[i].row;
    if (auto& of_row = (*vectors)[i]) {
      row.vectors = std::move(*of_row);
    } else {
      row.vectors.assign(schema.vector_fields.size(), {});
      row.content_hash = waiting_hash(row.content_hash);
    }
  }
  return {};
}

Result<void> DocumentWriter::note_waiting(uint64_t generation) {
  const std::lock_guard lock(state_.settings_mutex());
  auto stored = state_.settings();
  if (!stored) {
    return pass_on(stored);
  }
  // Of an older generation: the write is refused, and the batch is made again.
  if (stored->rows_wait || state_.rows().schema().generation != generation) {
    return {};
  }
  stored->rows_wait = true;
  return state_.rows().set_settings(settings_to_json(*stored));
}

Result<bool> DocumentWriter::write_rows(std::vector<store::Change> changes, uint64_t generation,
                                        AddReport& report) {
  if (changes.empty()) {
    return true;
  }
  auto receipt = state_.rows().write(changes, generation);
  if (receipt) {
    for (const store::Outcome outcome : receipt->outcomes) {
      count(outcome, report);
    }
    return true;
  }
  if (is_switched(receipt.error(), generation)) {
    return false;
  }
  if (!names_one_row(receipt.error().code)) {
    return pass_on(receipt);
  }
  return write_one_by_one(std::move(changes), generation, report);
}

bool DocumentWriter::is_switched(const Error& error, uint64_t generation) const {
  return error.code == Code::FailedPrecondition && state_.rows().schema().generation != generation;
}

/// The store refuses a call whole; one wrong row must not cost the others. Rows that are done leave
/// the batch.
Result<bool> DocumentWriter::write_one_by_one(std::vector<store::Change> changes,
                                              uint64_t generation, AddReport& report) {
  for (store::Change& change : changes) {
    std::vector<store::Change> one;
    one.push_back(std::move(change));
    auto receipt = state_.rows().write(std::move(one), generation);
    if (receipt) {
      count(receipt->outcomes.front(), report);
    } else if (is_switched(receipt.error(), generation)) {
      return false;
    } else if (names_one_row(receipt.error().code)) {
      report.failed.push_back({batch_.front().line, batch_.front().document.id, receipt.error()});
    } else {
      return pass_on(receipt);
    }
    batch_.erase(batch_.begin());
  }
  return true;
}

Result<void> derive_rows_anew(CollectionState& state, EncoderSource& encoders,
                              std::stop_token stop) {
  const auto snapshot = state.rows().snapshot();
  DocumentWriter writer(state, encoders, DocumentWriter::Away::Fail, std::move(stop));
  AddReport report;
  std::string after;
  uint64_t done = 0;
  while (true) {
    auto refs = snapshot->list(after, kBatchRowsMax);
    if (!refs) {
      return pass_on(refs);
    }
    if (refs->empty()) {
      break;
    }
    for (const store::RowRef ref : *refs) {
      auto row = snapshot->row(ref);
      if (!row) {
        return pass_on(row);
      }
      after = row->id;
      // A row that was deleted or replaced since the snapshot must not come back.
      const auto now = state.rows().snapshot();
      const auto there = now->find(row->id);
      auto live = there ? now->row(*there) : Result<store::RowView>(fail(Code::NotFound, ""));
      if (!live || live->sequence != row->sequence) {
        continue;
      }
      auto document = parse_document(row->source, row->id);
      if (!document) {
        return pass_on(document, fmt::format("document '{}'", row->id));
      }
      if (auto added = writer.add({0, std::move(*document)}, report); !added) {
        return pass_on(added);
      }
    }
    done += refs->size();
    state.note_progress(done, snapshot->live_rows());
  }
  if (auto flushed = writer.flush(report); !flushed) {
    return pass_on(flushed);
  }
  if (!report.failed.empty()) {
    return pass_on(Result<void>(tl::unexpected(report.failed.front().error)));
  }
  return {};
}

}  // namespace sibyl::answer::internal
