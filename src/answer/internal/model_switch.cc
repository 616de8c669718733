#include "answer/internal/model_switch.h"

#include <algorithm>

#include <fmt/format.h>

#include "answer/internal/away_model.h"
#include "answer/internal/careful_encoding.h"
#include "answer/internal/document_writer.h"
#include "answer/internal/row_builder.h"
#include "base/stop.h"

namespace sibyl::answer::internal {
namespace {

/// A re-encoding of hours must not begin anew because a model server was away for a minute.
Result<std::vector<std::vector<std::vector<float>>>> encode_patiently(
    std::span<const DocumentParts> parts, bool chunking, encoder::Encoder& encoder,
    const std::stop_token& stop) {
  static constexpr int kTriesMax = 60;
  static constexpr double kPauseMax_s = 10;
  double pause_s = 0.1;
  for (int tries = 1;; ++tries) {
    auto vectors = encode_documents(parts, chunking, encoder, stop);
    if (vectors || !is_passing(vectors.error()) || tries >= kTriesMax ||
        (tries > 1 && takes_texts(encoder, stop)) || base::sleep_until_stop(stop, pause_s)) {
      return vectors;
    }
    pause_s = std::min(2 * pause_s, kPauseMax_s);
  }
}

/// Rows of one call are encoded in batches of the usual size, however many the store hands over.
Result<std::vector<std::vector<std::vector<float>>>> encode_rows(
    std::span<const store::RowView> rows, bool chunking, encoder::Encoder& encoder,
    std::stop_token stop) {
  std::vector<std::vector<std::vector<float>>> result;
  result.reserve(rows.size());
  for (size_t first = 0; first < rows.size(); first += kBatchRowsMax) {
    const size_t count = std::min(kBatchRowsMax, rows.size() - first);
    std::vector<Document> documents(count);
    std::vector<PassageTable> tables(count);
    std::vector<DocumentParts> parts(count);
    for (size_t i = 0; i < count; ++i) {
      const store::RowView& row = rows[first + i];
      auto document = parse_document(row.source, row.id);
      if (!document) {
        return fail(Code::DataLoss, "document '{}' cannot be read: {}", row.id,
                    document.error().message);
      }
      documents[i] = std::move(*document);
      auto table = unpack_passages(row.passages, documents[i].text.size());
      if (!table) {
        return pass_on(table, fmt::format("document '{}'", row.id));
      }
      tables[i] = std::move(*table);
      parts[i] = {&documents[i], &tables[i]};
    }
    auto vectors = encode_carefully(
        parts,
        [&](std::span<const DocumentParts> some) {
          return encode_patiently(some, chunking, encoder, stop);
        },
        encoder, stop);
    if (!vectors) {
      return pass_on(vectors);
    }
    for (auto& of_row : *vectors) {
      result.push_back(of_row ? std::move(*of_row)
                              : std::vector<std::vector<float>>(kVectorFields));
    }
  }
  return result;
}

Result<void> replace_model(CollectionState& state, EncoderSource& encoders,
                           const StoredSettings& stored, std::stop_token stop) {
  StoredSettings next = stored;
  next.has_previous = true;
  next.previous_model = stored.settings.model;
  next.awaited_model.clear();
  next.rows_wait = false;  // every row gets vectors
  next.settings.model = stored.pending_model;
  std::shared_ptr<encoder::Encoder> encoder;
  if (!next.settings.model.empty()) {
    auto found = encoders.find(next.settings.model);
    if (!found) {
      return pass_on(found);
    }
    encoder = *found;
  }
  store::Schema schema = state.rows().schema();
  const store::Schema wanted = make_schema(next.settings, encoder.get());
  schema.vector_fields = wanted.vector_fields;
  schema.model = wanted.model;
  ++schema.generation;
  const bool chunking = next.settings.chunking;
  return state.rows().replace_vectors(
      schema, settings_to_json(next),
      [&](std::span<const store::RowView> rows) {
        return encoder ? encode_rows(rows, chunking, *encoder, stop)
                       : Result<std::vector<std::vector<std::vector<float>>>>(
                             std::vector<std::vector<std::vector<float>>>(rows.size()));
      },
      stop, [&](uint64_t done, uint64_t total) { state.note_progress(done, total); });
}

/// The switch wrote the settings that were when it began; origins noted since then come back.
Result<void> put_back_origins(CollectionState& state) {
  const std::lock_guard lock(state.settings_mutex());
  auto stored = state.settings();
  if (!stored) {
    return pass_on(stored);
  }
  return add_origins(stored->origins, state.recent_origins().names)
             ? state.rows().set_settings(settings_to_json(*stored))
             : Result<void>();
}

/// After a failure rows may still wait for the model.
Result<void> clear_pending(CollectionState& state, bool failed) {
  const std::lock_guard lock(state.settings_mutex());
  auto stored = state.settings();
  if (!stored) {
    return pass_on(stored);
  }
  const std::string pending = stored->pending_model;
  stored->is_switching = false;
  stored->rows_wait = stored->rows_wait || (failed && stored->settings.model == pending);
  stored->pending_model.clear();
  return state.rows().set_settings(settings_to_json(*stored));
}

}  // namespace

Result<void> run_pending_switch(CollectionState& state, EncoderSource& encoders,
                                const std::stop_token& stop) {
  auto stored = state.settings();
  if (!stored) {
    return pass_on(stored);
  }
  Result<void> outcome;
  if (stored->pending_model != state.rows().schema().model) {
    outcome = replace_model(state, encoders, *stored, stop);
    outcome = outcome ? put_back_origins(state) : outcome;
  }
  if (outcome) {
    outcome = derive_rows_anew(state, encoders, stop);
  }
  // A process that ends takes the switch up again; one that somebody cancelled is over.
  if (!outcome && stop.stop_requested()) {
    return outcome;
  }
  auto cleared = clear_pending(state, !outcome);
  return outcome ? cleared : outcome;
}

}  // namespace sibyl::answer::internal
