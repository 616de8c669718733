#include "answer/internal/document_writer.h"

#include <algorithm>

#include <fmt/format.h>

namespace sibyl::answer::internal {
namespace {

/// Switches that may end while one batch is being written.
constexpr int kAttemptsMax = 8;

bool names_one_row(Code code) {
  return code == Code::InvalidData || code == Code::InvalidArgument || code == Code::TooLarge;
}

void count_outcome(store::Outcome outcome, AddReport& report) {
  if (outcome == store::Outcome::Added) {
    ++report.added;
  } else {
    ++report.updated;
  }
}

}  // namespace

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

void DocumentWriter::drop_unchanged(const CollectionSettings& settings, AddReport& report) {
  const auto snapshot = state_.rows().snapshot();
  std::erase_if(batch_, [&](const IncomingDocument& incoming) {
    const auto there = snapshot->find(incoming.document.id);
    if (!there) {
      return false;
    }
    const auto row = snapshot->row(*there);
    const bool same = row && row->content_hash == content_hash(incoming.document, settings);
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
  drop_unchanged(settings, report);
  std::shared_ptr<encoder::Encoder> encoder;
  if (!schema.vector_fields.empty() && !batch_.empty()) {
    auto found = encoders_.find(schema.model);
    if (!found) {
      return pass_on(found, fmt::format("model of collection '{}'", state_.rows().name()));
    }
    encoder = *found;
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
  for (const DocumentParts& part : parts) {
    changes.push_back(
        {store::Change::Kind::Put, make_row(*part.document, *part.passages, settings)});
  }
  if (encoder) {
    auto vectors = encode_documents(parts, settings.chunking, *encoder, stop_);
    if (!vectors) {
      return pass_on(vectors);
    }
    for (size_t i = 0; i < changes.size(); ++i) {
      changes[i].row.vectors = std::move((*vectors)[i]);
    }
  }
  return write_rows(std::move(changes), schema.generation, report);
}

Result<bool> DocumentWriter::write_rows(std::vector<store::Change> changes, uint64_t generation,
                                        AddReport& report) {
  if (changes.empty()) {
    return true;
  }
  auto receipt = state_.rows().write(changes, generation);
  if (receipt) {
    for (const store::Outcome outcome : receipt->outcomes) {
      count_outcome(outcome, report);
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
      count_outcome(receipt->outcomes.front(), report);
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
  DocumentWriter writer(state, encoders, stop);
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
