#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "text/chunking.h"

namespace sibyl::answer {

/// A document as it comes in (INTERFACE section 2). `source` is its JSON as given, or made by us
/// for files that are not JSON.
struct Document {
  std::string id;
  std::string title;
  std::vector<std::string> headings;  ///< of the whole document
  std::string text;
  std::string url;
  std::string metadata;  ///< JSON object: "metadata" and every field that has no other meaning
  std::string source;
  /// Structure inside `text`, in order; one section with `headings` when the document has none.
  std::vector<text::Section> sections;
  /// The headings stand as lines in `text` between the sections (our readers put them there).
  bool headings_in_text = false;
};

inline constexpr size_t kDocumentIdBytesMax = 1024;
inline constexpr size_t kDocumentHeadingsMax = 4096;

/// Decodes one JSON document. Only "text" is required; "sections" (made by our readers) is
/// [{"headings", "begin", "end"}]. A missing id is filled with `default_id` (InvalidData when both
/// are missing). Errors name the field and the value's type.
Result<Document> parse_document(std::string_view json, std::string_view default_id);

/// The JSON of a document read from a file: {"id","title","headings","text","url","metadata",
/// "sections"}.
std::string document_to_json(const Document& document);

/// A default id made of the document's JSON: the same bytes get the same id.
std::string content_id(std::string_view json);

/// Title, headings and text joined by line ends: what `document` and `bm25` see. Headings that
/// stand in the text already are not put before it again.
std::string whole_text(const Document& document);
/// Title and headings joined by line ends: what `headings` sees.
std::string heading_text(const Document& document);

}  // namespace sibyl::answer
