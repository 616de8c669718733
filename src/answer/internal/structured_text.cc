#include "answer/internal/structured_text.h"

#include <algorithm>

#include "text/utf8.h"

namespace sibyl::answer::internal {
namespace {

/// Headings kept for a document's list, and bytes of one: more is a page gone wrong.
constexpr size_t kHeadingsMax = 256;
constexpr size_t kHeadingBytesMax = 512;

/// Length of the white space at `position`: ASCII space or a no-break space; 0 when none.
size_t space_at(std::string_view text, size_t position) {
  const char c = text[position];
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
    return 1;
  }
  return text.substr(position).starts_with("\xC2\xA0") ? 2 : 0;
}

}  // namespace

std::string collapse_space(std::string_view text) {
  std::string out;
  bool space = false;
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = space_at(text, i); length > 0) {
      space = true;
      i += length;
      continue;
    }
    if (space && !out.empty()) {
      out += ' ';
    }
    space = false;
    out += text[i++];
  }
  return out;
}

void StructuredText::put_breaks() {
  if (!text_.empty()) {
    if (pending_breaks_ > 0) {
      text_.append(static_cast<size_t>(pending_breaks_), '\n');
    } else if (pending_space_) {
      text_ += ' ';
    }
  }
  pending_breaks_ = 0;
  pending_space_ = false;
  if (!section_open_) {
    section_open_ = true;
    section_begin_ = text_.size();
  }
}

void StructuredText::add_inline(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = space_at(text, i); length > 0) {
      pending_space_ = true;
      i += length;
      continue;
    }
    size_t end = i;
    while (end < text.size() && space_at(text, end) == 0) {
      ++end;
    }
    put_breaks();
    text_ += text.substr(i, end - i);
    i = end;
  }
}

void StructuredText::add_verbatim(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    put_breaks();
    text_ += text;
  }
}

void StructuredText::break_line() {
  pending_breaks_ = std::max(pending_breaks_, 1);
}

void StructuredText::break_paragraph() {
  pending_breaks_ = 2;
}

void StructuredText::close_section() {
  if (section_open_ && text_.size() > section_begin_) {
    text::Section section;
    for (const auto& [level, heading] : path_) {
      section.headings.push_back(heading);
    }
    section.range = {static_cast<uint32_t>(section_begin_), static_cast<uint32_t>(text_.size())};
    sections_.push_back(std::move(section));
  }
  section_open_ = false;
}

void StructuredText::add_heading(int level, std::string_view text) {
  const std::string heading = collapse_space(text);
  if (heading.empty()) {
    return;
  }
  close_section();
  while (!path_.empty() && path_.back().first >= level) {
    path_.pop_back();
  }
  const bool is_title = !any_heading_ && (heading == title_ || (title_.empty() && level == 1));
  any_heading_ = true;
  if (is_title) {
    title_ = heading;
    return;
  }
  break_paragraph();
  put_breaks();
  text_ += heading;
  section_open_ = false;  // The heading's own line is in no section.
  break_paragraph();
  const std::string kept(text::cut_utf8(heading, kHeadingBytesMax));
  path_.emplace_back(level, kept);
  if (headings_.size() < kHeadingsMax) {
    headings_.push_back(kept);
  }
}

void StructuredText::finish(Document& document) {
  close_section();
  document.title = title_;
  document.text = std::move(text_);
  document.headings = std::move(headings_);
  document.sections = std::move(sections_);
  document.headings_in_text = !document.headings.empty();
  if (document.sections.empty() || !document.headings_in_text) {
    document.sections.clear();
    document.sections.push_back(
        {document.headings, {0, static_cast<uint32_t>(document.text.size())}});
  }
}

}  // namespace sibyl::answer::internal
