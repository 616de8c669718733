#include "answer/internal/html_reader.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "answer/internal/html_content.h"
#include "answer/internal/html_guard.h"
#include "answer/internal/html_tree.h"
#include "answer/internal/structured_text.h"

namespace sibyl::answer::internal {
namespace {

constexpr size_t kCharsetReach = 4096;

bool is_block(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_P:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_SUMMARY:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_PRE:
    case GUMBO_TAG_HR:
    case GUMBO_TAG_CENTER:
      return true;
    default:
      return false;
  }
}

int heading_level(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_H1:
      return 1;
    case GUMBO_TAG_H2:
      return 2;
    case GUMBO_TAG_H3:
      return 3;
    case GUMBO_TAG_H4:
      return 4;
    case GUMBO_TAG_H5:
      return 5;
    case GUMBO_TAG_H6:
      return 6;
    default:
      return 0;
  }
}

/// Depth was checked by HtmlContent, so the recursions here are bounded.
class PageWalker {
 public:
  PageWalker(const HtmlContent& content, StructuredText& out) : content_(content), out_(out) {}

  void walk(const GumboNode* node) {
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_CDATA ||
        node->type == GUMBO_NODE_WHITESPACE) {
      out_.add_inline(node->v.text.text);
      return;
    }
    if (node->type != GUMBO_NODE_ELEMENT || content_.is_dropped(*node)) {
      return;
    }
    const GumboTag tag = node->v.element.tag;
    if (const int level = heading_level(tag); level > 0) {
      std::string heading;
      collect_text(node, heading, false);
      out_.add_heading(level, heading);
      return;
    }
    switch (tag) {
      case GUMBO_TAG_BR:
        out_.break_line();
        return;
      case GUMBO_TAG_PRE: {
        std::string text;
        collect_text(node, text, true);
        out_.break_paragraph();
        out_.add_verbatim(text);
        out_.break_paragraph();
        return;
      }
      case GUMBO_TAG_LI:
        walk_item(node);
        return;
      case GUMBO_TAG_TABLE:
        walk_table(node);
        return;
      case GUMBO_TAG_DT:
      case GUMBO_TAG_DD:
        out_.break_line();
        walk_children(node);
        out_.break_line();
        return;
      default:
        break;
    }
    if (is_block(tag)) {
      // Within a list the lines stand close together.
      const bool in_list = list_depth_ > 0;
      const bool is_list = tag == GUMBO_TAG_UL || tag == GUMBO_TAG_OL || tag == GUMBO_TAG_DL;
      in_list ? out_.break_line() : out_.break_paragraph();
      list_depth_ += is_list ? 1 : 0;
      walk_children(node);
      list_depth_ -= is_list ? 1 : 0;
      in_list ? out_.break_line() : out_.break_paragraph();
      return;
    }
    walk_children(node);
  }

 private:
  void walk_children(const GumboNode* node) {
    const GumboVector& children = node->v.element.children;
    for (unsigned int i = 0; i < children.length; ++i) {
      walk(static_cast<const GumboNode*>(children.data[i]));
    }
  }

  void walk_item(const GumboNode* node) {
    out_.break_line();
    const GumboNode* list = node->parent;
    const bool numbered =
        list != nullptr && list->type == GUMBO_NODE_ELEMENT && list->v.element.tag == GUMBO_TAG_OL;
    if (content_.has_text(*node)) {
      out_.add_inline(numbered ? fmt::format("{}. ", item_number(node)) : "- ");
    }
    walk_item_children(node);
    out_.break_line();
  }

  /// The first block of an item stays on the item's own line.
  void walk_item_children(const GumboNode* node) {
    const GumboVector& children = node->v.element.children;
    bool first = true;
    for (unsigned int i = 0; i < children.length; ++i) {
      const auto* child = static_cast<const GumboNode*>(children.data[i]);
      const bool is_text = child->type != GUMBO_NODE_ELEMENT;
      if (child->type == GUMBO_NODE_WHITESPACE) {
        out_.add_inline(" ");
        continue;
      }
      if (first && !is_text && child->v.element.tag == GUMBO_TAG_P &&
          !content_.is_dropped(*child)) {
        walk_children(child);
        out_.break_line();
      } else {
        walk(child);
      }
      first = false;
    }
  }

  /// Items of a list come one after the other, so the number is counted, not looked up each time.
  size_t item_number(const GumboNode* node) { return ++item_numbers_[node->parent]; }

  /// Data tables: a line a row, cells parted by bars. Tables that lay out a page: their blocks.
  void walk_table(const GumboNode* node) {
    out_.break_paragraph();
    if (holds_blocks(node)) {
      walk_layout(node);
    } else {
      walk_rows(node);
    }
    out_.break_paragraph();
  }

  static bool holds_blocks(const GumboNode* node) {
    const GumboVector& children = node->v.element.children;
    for (unsigned int i = 0; i < children.length; ++i) {
      const auto* child = static_cast<const GumboNode*>(children.data[i]);
      if (child->type != GUMBO_NODE_ELEMENT) {
        continue;
      }
      const GumboTag tag = child->v.element.tag;
      const bool simple = tag == GUMBO_TAG_P || tag == GUMBO_TAG_DIV;  // Common in data cells.
      if (heading_level(tag) > 0 || (is_block(tag) && !simple) || tag == GUMBO_TAG_LI ||
          holds_blocks(child)) {
        return true;
      }
    }
    return false;
  }

  void walk_layout(const GumboNode* node) {
    const GumboVector& children = node->v.element.children;
    for (unsigned int i = 0; i < children.length; ++i) {
      const auto* child = static_cast<const GumboNode*>(children.data[i]);
      if (child->type != GUMBO_NODE_ELEMENT || content_.is_dropped(*child)) {
        continue;
      }
      const GumboTag tag = child->v.element.tag;
      if (tag == GUMBO_TAG_TD || tag == GUMBO_TAG_TH || tag == GUMBO_TAG_CAPTION) {
        out_.break_paragraph();
        walk_children(child);
      } else if (tag == GUMBO_TAG_TABLE) {
        walk(child);
      } else {
        walk_layout(child);
      }
    }
  }

  void walk_rows(const GumboNode* node) {
    const GumboVector& children = node->v.element.children;
    for (unsigned int i = 0; i < children.length; ++i) {
      const auto* child = static_cast<const GumboNode*>(children.data[i]);
      if (child->type != GUMBO_NODE_ELEMENT || content_.is_dropped(*child)) {
        continue;
      }
      const GumboTag tag = child->v.element.tag;
      if (tag == GUMBO_TAG_CAPTION) {
        out_.break_line();
        walk_children(child);
        out_.break_line();
      } else if (tag == GUMBO_TAG_TR) {
        walk_cells(child);
      } else {
        walk_rows(child);
      }
    }
  }

  void walk_cells(const GumboNode* row) {
    out_.break_line();
    const GumboVector& cells = row->v.element.children;
    bool any = false;
    for (unsigned int i = 0; i < cells.length; ++i) {
      const auto* cell = static_cast<const GumboNode*>(cells.data[i]);
      if (cell->type != GUMBO_NODE_ELEMENT || content_.is_dropped(*cell)) {
        continue;
      }
      std::string text;
      collect_text(cell, text, false);
      text = collapse_space(text);
      if (!text.empty()) {
        out_.add_inline(any ? " | " : "");
        out_.add_inline(text);
        any = true;
      }
    }
    out_.break_line();
  }

  /// Text of a subtree on one line, or as it stands.
  void collect_text(const GumboNode* node, std::string& out, bool verbatim) const {
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_CDATA ||
        node->type == GUMBO_NODE_WHITESPACE) {
      out += node->v.text.text;
      return;
    }
    if (node->type != GUMBO_NODE_ELEMENT || content_.is_dropped(*node)) {
      return;
    }
    const GumboTag tag = node->v.element.tag;
    if (tag == GUMBO_TAG_BR) {
      out += verbatim ? '\n' : ' ';
    }
    const GumboVector& children = node->v.element.children;
    for (unsigned int i = 0; i < children.length; ++i) {
      collect_text(static_cast<const GumboNode*>(children.data[i]), out, verbatim);
    }
    if (is_block(tag) || tag == GUMBO_TAG_LI) {
      out += verbatim ? '\n' : ' ';
    }
  }

  const HtmlContent& content_;
  StructuredText& out_;
  int list_depth_ = 0;
  std::unordered_map<const GumboNode*, size_t> item_numbers_;
};

std::string title_of(const HtmlContent& content) {
  const GumboNode* title = content.title();
  if (title == nullptr || title->v.element.children.length == 0) {
    return {};
  }
  const auto* text = static_cast<const GumboNode*>(title->v.element.children.data[0]);
  return text->type == GUMBO_NODE_TEXT ? collapse_space(text->v.text.text) : std::string();
}

/// The value after `key`, in quotes or bare.
std::string value_after(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  at = text.find_first_not_of(" \t\r\n", at + key.size());
  if (at == std::string_view::npos || text[at] != '=') {
    return {};
  }
  at = text.find_first_not_of(" \t\r\n'\"", at + 1);
  if (at == std::string_view::npos) {
    return {};
  }
  const size_t end = std::min(text.find_first_of(" \t\r\n'\";>/?", at), text.size());
  return std::string(text.substr(at, end - at));
}

}  // namespace

std::string declared_charset(std::string_view bytes) {
  std::string head(bytes.substr(0, kCharsetReach));
  for (char& c : head) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const std::string_view view = head;
  for (size_t at = 0; (at = view.find("<meta", at)) != std::string_view::npos; at += 5) {
    const size_t end = std::min(view.find('>', at), view.size());
    if (std::string charset = value_after(view.substr(at, end - at), "charset"); !charset.empty()) {
      return charset;
    }
  }
  if (view.starts_with("<?xml")) {
    return value_after(view.substr(0, std::min(view.find("?>"), view.size())), "encoding");
  }
  return {};
}

Result<Document> read_html(std::string_view html, size_t depth_max) {
  if (auto shape = check_html_shape(html, depth_max); !shape) {
    return pass_on(shape);
  }
  auto tree = HtmlTree::parse(html);
  if (!tree) {
    return pass_on(tree);
  }
  auto content = HtmlContent::measure(tree->root(), depth_max);
  if (!content) {
    return pass_on(content);
  }
  Document document;
  for (const bool keep_link_lists : {false, true}) {
    if (keep_link_lists) {
      content->keep_link_lists();
    }
    StructuredText text;
    text.set_title(title_of(*content));
    PageWalker(*content, text).walk(content->main_content());
    text.finish(document);
    if (!document.text.empty()) {
      break;
    }
  }
  if (document.text.empty()) {
    return fail(Code::InvalidData, "HTML: holds no text");
  }
  return document;
}

}  // namespace sibyl::answer::internal
