#include "job/internal/passage_builder.h"

#include <utility>

#include "text/chunking.h"

namespace sibyl::job::internal {
namespace {

// A document of several sections is cut above this; below, its sections are too short to train on.
constexpr size_t kSectionedBytesMax = 1500;
// One section is read whole up to this size and chunked above.
constexpr size_t kSectionBytesMax = 16000;
// Under about fifteen words a section says too little.
constexpr size_t kPieceBytesMin = 80;
constexpr size_t kPieceTokens = 300;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() ? second : second.empty() ? first : first + "\n" + second;
}

Passage whole_passage(const answer::Document& document) {
  Passage passage;
  passage.id = document.id;
  passage.text = answer::whole_text(document);
  passage.heading = answer::heading_text(document);
  passage.body = document.text;
  if (document.sections.size() == 1 && document.headings_in_text) {
    const text::Range range = document.sections[0].range;
    passage.body = document.text.substr(range.begin, range.end - range.begin);
  }
  // Over several sections no single heading stands for the text; the title does.
  passage.last_heading = document.sections.size() <= 1 && !document.headings.empty()
                             ? document.headings.back()
                             : document.title;
  return passage;
}

Passage piece(const answer::Document& document, const text::Section& section,
              std::string_view body) {
  Passage passage;
  passage.id = document.id;
  passage.body = std::string(trimmed(body));
  passage.heading = document.title;
  for (const std::string& heading : section.headings) {
    if (heading != document.title) {
      passage.heading = joined(passage.heading, heading);
    }
  }
  passage.text = joined(passage.heading, passage.body);
  passage.last_heading = section.headings.empty() ? document.title : section.headings.back();
  return passage;
}

void cut_document(const answer::Document& document, std::vector<Passage>& out) {
  for (const text::Section& section : document.sections) {
    const std::string_view body =
        std::string_view(document.text)
            .substr(section.range.begin, section.range.end - section.range.begin);
    if (body.size() <= kSectionBytesMax) {
      if (trimmed(body).size() >= kPieceBytesMin) {
        out.push_back(piece(document, section, body));
      }
      continue;
    }
    const std::vector<text::Section> alone = {section};
    for (const text::Chunk& chunk :
         text::chunk_text(document.text, alone, nullptr, {kPieceTokens, 0})) {
      const std::string_view part =
          std::string_view(document.text)
              .substr(chunk.range.begin, chunk.range.end - chunk.range.begin);
      if (trimmed(part).size() >= kPieceBytesMin) {
        out.push_back(piece(document, section, part));
      }
    }
  }
}

bool is_long(const answer::Document& document) {
  return document.text.size() >
         (document.sections.size() > 1 ? kSectionedBytesMax : kSectionBytesMax);
}

}  // namespace

Passages build_passages(const std::vector<answer::Document>& documents, bool cut_long) {
  Passages out;
  std::unordered_map<std::string, uint32_t> by_text;
  std::vector<Passage> pieces;
  for (const answer::Document& document : documents) {
    pieces.clear();
    if (cut_long && is_long(document)) {
      cut_document(document, pieces);
      out.documents_cut += pieces.empty() ? 0 : 1;
    }
    if (pieces.empty()) {
      pieces.push_back(whole_passage(document));
    }
    for (Passage& passage : pieces) {
      if (blank(passage.text)) {
        ++out.empty_dropped;
        continue;
      }
      const auto index = static_cast<uint32_t>(out.items.size());
      const auto [place, is_new] = by_text.emplace(passage.text, index);
      out.by_id[document.id].push_back(place->second);
      if (is_new) {
        out.items.push_back(std::move(passage));
      } else {
        ++out.duplicates_dropped;
      }
    }
  }
  return out;
}

}  // namespace sibyl::job::internal
