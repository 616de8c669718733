#include "answer/internal/row_builder.h"

#include <deque>
#include <unordered_map>

#include "answer/internal/settings.h"
#include "answer/pipeline.h"
#include "base/bytes.h"
#include "text/chunking.h"

namespace sibyl::answer::internal {
namespace {

/// Texts to encode, equal ones once. Keeps the texts alive.
class TextBatch {
 public:
  size_t add(std::string text) {
    if (const auto known = places_.find(text); known != places_.end()) {
      return known->second;
    }
    texts_.push_back(std::move(text));
    views_.push_back(texts_.back());
    places_.emplace(views_.back(), views_.size() - 1);
    return views_.size() - 1;
  }
  std::span<const std::string_view> views() const { return views_; }

 private:
  std::deque<std::string> texts_;  // A deque: views into it stay right while it grows.
  std::vector<std::string_view> views_;
  std::unordered_map<std::string_view, size_t> places_;
};

/// Places in the batch of one document's vectors.
struct DocumentPlaces {
  std::array<std::vector<size_t>, kVectorFields> fields;
};

}  // namespace

store::Schema make_schema(const CollectionSettings& settings, const encoder::Encoder* encoder) {
  store::Schema schema;
  schema.language = settings.language;
  schema.text_fields = {std::string(kContentFieldName)};
  if (encoder != nullptr) {
    for (size_t field = 0; field < kVectorFields; ++field) {
      schema.vector_fields.push_back(
          {std::string(kRetrievalNames[field]), encoder->info().dimension});
    }
    schema.model = settings.model;
  }
  return schema;
}

PassageTable make_passages(const Document& document, const CollectionSettings& settings,
                           const text::Tokenizer* tokenizer) {
  PassageTable table;
  if (settings.chunking) {
    const std::vector<text::Chunk> chunks =
        text::chunk_text(document.text, document.sections, tokenizer,
                         {settings.chunk_tokens, settings.chunk_overlap});
    for (const text::Section& section : document.sections) {
      table.headings.push_back(section.headings);
    }
    for (const text::Chunk& chunk : chunks) {
      table.passages.push_back({chunk.range, chunk.section});
    }
  }
  if (table.passages.empty()) {
    table.headings = {document.headings_in_text ? std::vector<std::string>{} : document.headings};
    table.passages = {{{0, static_cast<uint32_t>(document.text.size())}, 0}};
  }
  return table;
}

std::string passage_text(const Document& document, const PassageTable& table, size_t passage) {
  const Passage& place = table.passages[passage];
  const std::vector<std::string>& path = table.headings[place.heading];
  std::string out = document.title;
  const auto append = [&](std::string_view line) {
    if (!out.empty() && !line.empty()) {
      out += '\n';
    }
    out += line;
  };
  append(path.empty() ? std::string_view{} : std::string_view(path.back()));
  append(std::string_view(document.text)
             .substr(place.range.begin, place.range.end - place.range.begin));
  return out;
}

uint64_t content_hash(const Document& document, const CollectionSettings& settings) {
  const uint64_t derivation = base::hash64(derivation_of(settings));
  return base::hash64(document.source, base::hash64(document.id, derivation));
}

uint64_t waiting_hash(uint64_t content_hash) {
  return base::hash64("waits for its vectors", content_hash);
}

store::Row make_row(const Document& document, const PassageTable& passages,
                    const CollectionSettings& settings) {
  store::Row row;
  row.id = document.id;
  row.content_hash = content_hash(document, settings);
  row.source = document.source;
  row.passages = pack_passages(passages);
  row.metadata = document.metadata;
  row.texts = {whole_text(document)};
  return row;
}

Result<std::vector<std::vector<std::vector<float>>>> encode_documents(
    std::span<const DocumentParts> documents, bool chunking, encoder::Encoder& encoder,
    std::stop_token stop) {
  TextBatch batch;
  std::vector<DocumentPlaces> places(documents.size());
  for (size_t d = 0; d < documents.size(); ++d) {
    const auto& [document, passages] = documents[d];
    const size_t whole = batch.add(whole_text(*document));
    places[d].fields[0] = {whole};
    // Without title and headings the whole text stands in for them: a missing vector would score as
    // if the headings were wrong.
    std::string headings = heading_text(*document);
    places[d].fields[1] = {headings.empty() ? whole : batch.add(std::move(headings))};
    // A document in one piece is its passage: nothing more to encode.
    const bool in_pieces = chunking && passages->passages.size() > 1;
    for (size_t p = 0; p < passages->passages.size(); ++p) {
      places[d].fields[2].push_back(in_pieces ? batch.add(passage_text(*document, *passages, p))
                                              : whole);
    }
  }
  encoder::EncodeOptions options;
  options.stop = stop;
  auto encoded = encoder.encode(batch.views(), options);
  if (!encoded) {
    return pass_on(encoded, "encoding documents");
  }
  const size_t dimension = encoder.info().dimension;
  if (encoded->vectors.size() != batch.views().size() * dimension) {
    return fail(Code::Internal, "model '{}' gave {} numbers for {} texts of dimension {}",
                encoder.info().reference(), encoded->vectors.size(), batch.views().size(),
                dimension);
  }
  std::vector<std::vector<std::vector<float>>> result(documents.size());
  for (size_t d = 0; d < documents.size(); ++d) {
    for (const std::vector<size_t>& field : places[d].fields) {
      std::vector<float> vectors;
      vectors.reserve(field.size() * dimension);
      for (const size_t place : field) {
        const float* begin = encoded->vectors.data() + place * dimension;
        vectors.insert(vectors.end(), begin, begin + dimension);
      }
      result[d].push_back(std::move(vectors));
    }
  }
  return result;
}

}  // namespace sibyl::answer::internal
