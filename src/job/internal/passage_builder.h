#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "answer/document.h"

namespace sibyl::job::internal {

/// What is trained and ranked as one: a document, or a section-sized piece of a long one.
struct Passage {
  std::string id;            ///< of its document
  std::string text;          ///< title, headings and body joined by line ends
  std::string heading;       ///< title and headings
  std::string body;          ///< without title and headings
  std::string last_heading;  ///< the innermost one, or the title
};

struct Passages {
  std::vector<Passage> items;
  std::unordered_map<std::string, std::vector<uint32_t>> by_id;  ///< document id to its passages
  uint64_t duplicates_dropped = 0;                               ///< documents of the same text
  uint64_t empty_dropped = 0;
  uint64_t documents_cut = 0;
};

/// One passage a document; with `cut_long`, long documents become pieces along their sections.
/// Documents of the same text share the passage of the first.
Passages build_passages(const std::vector<answer::Document>& documents, bool cut_long);

}  // namespace sibyl::job::internal
