#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "answer/answer_service.h"
#include "answer/document.h"
#include "answer/internal/passage_table.h"
#include "encoder/encoder.h"
#include "store/row.h"
#include "store/schema.h"

namespace sibyl::answer::internal {

/// Fields of a document collection in the store, in schema order.
inline constexpr size_t kContentField = 0;
inline constexpr std::string_view kContentFieldName = "content";
/// Vector fields stand in the order of Retrieval: document, headings, chunks.
inline constexpr size_t kVectorFields = 3;
/// Documents and bytes of them that are encoded and written in one call: enough to fill the
/// workers' batches, little enough to be lost when the process is killed.
inline constexpr size_t kBatchRowsMax = 128;
inline constexpr size_t kBatchBytesMax = size_t{128} << 10;

/// The schema of a document collection; `encoder` may be null: no vector fields then.
store::Schema make_schema(const CollectionSettings& settings, const encoder::Encoder* encoder);

/// Cuts a document into passages by structure and tokens, or makes it one passage.
PassageTable make_passages(const Document& document, const CollectionSettings& settings,
                           const text::Tokenizer* tokenizer);

/// What the vector of a passage is made of: title, last heading and the passage's text.
std::string passage_text(const Document& document, const PassageTable& table, size_t passage);

uint64_t content_hash(const Document& document, const CollectionSettings& settings);
/// The hash of a row that waits for its vectors: unlike the one above, so that it is made anew.
uint64_t waiting_hash(uint64_t content_hash);

/// A row without vectors.
store::Row make_row(const Document& document, const PassageTable& passages,
                    const CollectionSettings& settings);

/// Vectors of documents by the schema's vector fields; all texts go to the encoder in one call,
/// equal ones once.
struct DocumentParts {
  const Document* document = nullptr;
  const PassageTable* passages = nullptr;
};
Result<std::vector<std::vector<std::vector<float>>>> encode_documents(
    std::span<const DocumentParts> documents, bool chunking, encoder::Encoder& encoder,
    std::stop_token stop);

}  // namespace sibyl::answer::internal
