#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "answer/answer_service.h"
#include "answer/internal/collection_state.h"
#include "answer/internal/row_builder.h"

namespace sibyl::answer::internal {

/// A document on its way in, with its line in the body.
struct IncomingDocument {
  uint64_t line = 0;
  Document document;
};

/// Documents to durable rows, in bounded batches: cut into passages, encoded in one call a batch,
/// written. Unchanged ones cost no encoding. A model switch that ends meanwhile is noticed by the
/// schema's generation, and the batch is made again with the new model. While a model that is
/// served elsewhere cannot be asked, documents are written without vectors and marked, so that they
/// get them later; a model of this server's own that fails is an error, since nothing would come
/// later.
class DocumentWriter {
 public:
  /// What happens when the model cannot be asked. With Fail, documents that the model refuses while
  /// it takes others are written without vectors.
  enum class Away { Wait, Fail };
  DocumentWriter(CollectionState& state, EncoderSource& encoders, Away away, std::stop_token stop)
      : state_(state), encoders_(encoders), away_(away), stop_(std::move(stop)) {}

  /// Writes the batch when it is full.
  Result<void> add(IncomingDocument document, AddReport& report);
  /// Writes what is left.
  Result<void> flush(AddReport& report);

 private:
  Result<bool> write_once(AddReport& report);
  /// The batch as rows, with vectors; without them, marked, when the model cannot be asked.
  Result<std::vector<store::Change>> make_changes(const store::Schema& schema,
                                                  const CollectionSettings& settings);
  Result<void> add_vectors(std::span<const DocumentParts> parts, const store::Schema& schema,
                           const CollectionSettings& settings, encoder::Encoder* encoder,
                           std::vector<store::Change>& changes);
  /// Vectors in the order of `parts`, nothing for a document that goes without.
  Result<std::vector<std::optional<std::vector<std::vector<float>>>>> make_vectors(
      std::span<const DocumentParts> parts, const store::Schema& schema, bool chunking,
      encoder::Encoder* encoder);
  bool may_wait(const Error& error, const store::Schema& schema) const;
  /// Notes in the collection's settings that rows wait.
  Result<void> note_waiting(uint64_t generation);
  void count(store::Outcome outcome, AddReport& report) const;
  Result<bool> write_rows(std::vector<store::Change> changes, uint64_t generation,
                          AddReport& report);
  Result<bool> write_one_by_one(std::vector<store::Change> changes, uint64_t generation,
                                AddReport& report);
  bool is_switched(const Error& error, uint64_t generation) const;
  void drop_unchanged(const StoredSettings& stored, const store::Schema& schema, AddReport& report);

  CollectionState& state_;
  EncoderSource& encoders_;
  const Away away_;
  std::stop_token stop_;
  bool waits_ = false;  ///< the batch's rows have no vectors
  std::vector<IncomingDocument> batch_;
  size_t batch_bytes_ = 0;
};

/// Makes every row anew whose content hash is not that of the settings (other chunking).
Result<void> derive_rows_anew(CollectionState& state, EncoderSource& encoders,
                              std::stop_token stop);

}  // namespace sibyl::answer::internal
