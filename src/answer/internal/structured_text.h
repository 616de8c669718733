#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "answer/document.h"

namespace sibyl::answer::internal {

/// Builds a document's text from blocks, inline text and headings: white space collapses within a
/// block, blocks stand on lines of their own, headings open sections. Section ranges leave out the
/// heading lines themselves. Not thread-safe.
class StructuredText {
 public:
  /// A first heading equal to the title is not repeated in the text; without a title, a first
  /// heading of level 1 becomes it.
  void set_title(std::string title) { title_ = std::move(title); }
  const std::string& title() const { return title_; }

  void add_inline(std::string_view text);    ///< white space collapses
  void add_verbatim(std::string_view text);  ///< line ends and spaces stay
  void break_line();                         ///< what follows stands on a new line
  void break_paragraph();                    ///< … after an empty line
  void add_heading(int level, std::string_view text);
  bool empty() const { return text_.empty(); }

  /// Title, text, headings and sections into `document`.
  void finish(Document& document);

 private:
  void put_breaks();
  void close_section();

  std::string title_;
  std::string text_;
  int pending_breaks_ = 0;
  bool pending_space_ = false;
  bool any_heading_ = false;
  std::vector<std::pair<int, std::string>> path_;
  std::vector<std::string> headings_;
  std::vector<text::Section> sections_;
  bool section_open_ = false;
  size_t section_begin_ = 0;
};

/// `text` without white space around it and with one space for each run inside.
std::string collapse_space(std::string_view text);

}  // namespace sibyl::answer::internal
