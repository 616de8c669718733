#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answer/document.h"
#include "answer/internal/passage_table.h"
#include "base/check.h"

/// A document's JSON, and the same bytes as a row's passage table.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto document = answer::parse_document(bytes, "id")) {
    const auto again = answer::parse_document(document->source, "other");
    base::check(again && again->id == document->id, "the source holds the id");
    base::check(answer::parse_document(answer::document_to_json(*document), "").has_value(),
                "what we write we read");
  }
  if (const auto table = answer::internal::unpack_passages(bytes, 1000)) {
    for (const answer::internal::Passage& passage : table->passages) {
      base::check(passage.range.end <= 1000 && passage.heading < table->headings.size(),
                  "passages lie within the text");
    }
  }
  return 0;
}
