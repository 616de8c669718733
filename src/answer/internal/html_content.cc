#include "answer/internal/html_content.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "answer/internal/html_tree.h"

namespace sibyl::answer::internal {
namespace {

/// Links in a block, and the share of its text that they hold, above which it is navigation.
constexpr uint32_t kNavigationLinks = 4;
constexpr double kNavigationShare = 0.8;

constexpr std::array<std::string_view, 14> kDroppedRoles = {
    "navigation", "banner", "contentinfo", "complementary", "search",    "menu",    "menubar",
    "toolbar",    "dialog", "alertdialog", "doc-toc",       "directory", "tablist", "alert"};
/// Words of class and id values: whole, or before/after a '-' or '_' as listed below.
constexpr std::array<std::string_view, 34> kDroppedWords = {"nav",
                                                            "navbar",
                                                            "navigation",
                                                            "navheader",
                                                            "navfooter",
                                                            "sidebar",
                                                            "sphinxsidebar",
                                                            "breadcrumb",
                                                            "breadcrumbs",
                                                            "toc",
                                                            "tableofcontents",
                                                            "table-of-contents",
                                                            "table_of_contents",
                                                            "footer",
                                                            "site-footer",
                                                            "page-footer",
                                                            "site-header",
                                                            "pagination",
                                                            "pager",
                                                            "cookie-banner",
                                                            "cookie-notice",
                                                            "share-buttons",
                                                            "social-links",
                                                            "skip-link",
                                                            "skiplink",
                                                            "headerlink",
                                                            "editsection",
                                                            "mw-editsection",
                                                            "sr-only",
                                                            "visually-hidden",
                                                            "advertisement",
                                                            "related-links",
                                                            "menu",
                                                            "nav-menu"};
constexpr std::array<std::string_view, 6> kDroppedPrefixes = {"navbar-",  "breadcrumb-", "toc-",
                                                              "sidebar-", "navigation-", "footer-"};
constexpr std::array<std::string_view, 5> kDroppedSuffixes = {"-toc", "-nav", "-sidebar",
                                                              "-breadcrumbs", "-navigation"};

bool is_dropped_tag(GumboTag tag) {
  switch (tag) {
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_TEMPLATE:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_SVG:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_EMBED:
    case GUMBO_TAG_SELECT:
    case GUMBO_TAG_BUTTON:
    case GUMBO_TAG_TEXTAREA:
    case GUMBO_TAG_HEAD:
    case GUMBO_TAG_TITLE:
    case GUMBO_TAG_CANVAS:
    case GUMBO_TAG_AUDIO:
    case GUMBO_TAG_VIDEO:
      return true;
    default:
      return false;
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

template <class Predicate>
bool any_word(std::string_view value, const Predicate& predicate) {
  const std::string words = lower(value);
  size_t begin = 0;
  while (begin < words.size()) {
    const size_t end = std::min(words.find_first_of(" \t\r\n\f", begin), words.size());
    if (end > begin && predicate(std::string_view(words).substr(begin, end - begin))) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

bool is_dropped_word(std::string_view word) {
  return std::find(kDroppedWords.begin(), kDroppedWords.end(), word) != kDroppedWords.end() ||
         std::any_of(kDroppedPrefixes.begin(), kDroppedPrefixes.end(),
                     [&](std::string_view prefix) { return word.starts_with(prefix); }) ||
         std::any_of(kDroppedSuffixes.begin(), kDroppedSuffixes.end(),
                     [&](std::string_view suffix) { return word.ends_with(suffix); });
}

bool is_role(const GumboElement& element, std::string_view role) {
  return any_word(attribute(element, "role"), [&](std::string_view word) { return word == role; });
}

bool is_hidden(const GumboElement& element) {
  if (gumbo_get_attribute(&element.attributes, "hidden") != nullptr ||
      attribute(element, "aria-hidden") == "true") {
    return true;
  }
  std::string style = lower(attribute(element, "style"));
  std::erase(style, ' ');
  return style.find("display:none") != std::string::npos;
}

/// Page headers and footers; those of an article or of the main part hold its title and notes.
bool is_page_frame(const GumboNode& node) {
  const GumboTag tag = node.v.element.tag;
  if (tag != GUMBO_TAG_HEADER && tag != GUMBO_TAG_FOOTER) {
    return false;
  }
  for (const GumboNode* up = node.parent; up != nullptr && up->type == GUMBO_NODE_ELEMENT;
       up = up->parent) {
    const GumboTag above = up->v.element.tag;
    if (above == GUMBO_TAG_ARTICLE || above == GUMBO_TAG_MAIN || above == GUMBO_TAG_SECTION ||
        is_role(up->v.element, "main")) {
      return tag == GUMBO_TAG_FOOTER;
    }
  }
  return true;
}

uint32_t visible_bytes(const char* text) {
  uint32_t count = 0;
  for (; *text != '\0'; ++text) {
    count += *text == ' ' || *text == '\n' || *text == '\t' || *text == '\r' ? 0 : 1;
  }
  return count;
}

}  // namespace

Result<HtmlContent> HtmlContent::measure(const GumboNode* root, size_t depth_max) {
  HtmlContent content;
  // The parser opens html, head and body by itself and tables' inner elements too.
  auto weight = content.weigh(root, 0, depth_max * 2 + 16, false);
  if (!weight) {
    return pass_on(weight);
  }
  content.choose_main();
  if (content.main_ == nullptr) {
    content.main_ = root;
  }
  return content;
}

/// The recursion is bounded by `depth_max`.
Result<HtmlContent::Weight> HtmlContent::weigh(const GumboNode* node, size_t depth,
                                               size_t depth_max, bool in_link) {
  if (depth > depth_max) {
    return fail(Code::InvalidData, "HTML: elements nest deeper than {} levels", depth_max);
  }
  Weight weight;
  if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_CDATA) {
    weight.text_bytes = visible_bytes(node->v.text.text);
    weight.link_bytes = in_link ? weight.text_bytes : 0;
    return weight;
  }
  if (node->type != GUMBO_NODE_ELEMENT) {
    return weight;
  }
  const GumboElement& element = node->v.element;
  const bool is_link = element.tag == GUMBO_TAG_A && !attribute(element, "href").empty();
  if (element.tag == GUMBO_TAG_BODY && body_ == nullptr) {
    body_ = node;
  } else if (element.tag == GUMBO_TAG_TITLE && title_ == nullptr) {
    title_ = node;
  } else if (element.tag == GUMBO_TAG_ARTICLE) {
    article_ = node;
    ++articles_;
  }
  if (first_main_ == nullptr && (element.tag == GUMBO_TAG_MAIN || is_role(element, "main"))) {
    first_main_ = node;
  }
  for (unsigned int i = 0; i < element.children.length; ++i) {
    const auto* child = static_cast<const GumboNode*>(element.children.data[i]);
    auto inner = weigh(child, depth + 1, depth_max, in_link || is_link);
    if (!inner) {
      return inner;
    }
    const bool counts = child->type != GUMBO_NODE_ELEMENT || !is_dropped_tag(child->v.element.tag);
    weight.text_bytes += counts ? inner->text_bytes : 0;
    weight.link_bytes += counts ? inner->link_bytes : 0;
    weight.links += counts ? inner->links : 0;
  }
  weight.links += is_link ? 1 : 0;
  weights_.emplace(node, weight);
  return weight;
}

void HtmlContent::choose_main() {
  main_ = body_;
  if (first_main_ != nullptr && has_text(*first_main_)) {
    main_ = first_main_;
  } else if (articles_ == 1 && has_text(*article_)) {
    main_ = article_;
  }
}

bool HtmlContent::has_text(const GumboNode& element) const {
  const auto weight = weights_.find(&element);
  return weight != weights_.end() && weight->second.text_bytes > 0;
}

bool HtmlContent::is_link_list(const GumboNode& element) const {
  switch (element.v.element.tag) {
    case GUMBO_TAG_UL:
    case GUMBO_TAG_OL:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_TABLE:
    case GUMBO_TAG_P:
      break;
    default:
      return false;
  }
  const auto weight = weights_.find(&element);
  return weight != weights_.end() && weight->second.links >= kNavigationLinks &&
         weight->second.link_bytes > kNavigationShare * weight->second.text_bytes;
}

bool HtmlContent::is_dropped(const GumboNode& node) const {
  const GumboElement& element = node.v.element;
  if (is_dropped_tag(element.tag) || is_hidden(element)) {
    return true;
  }
  if (&node == main_ || element.tag == GUMBO_TAG_BODY || element.tag == GUMBO_TAG_MAIN ||
      element.tag == GUMBO_TAG_ARTICLE) {
    return false;  // Classes of these describe the page's layout, not themselves.
  }
  if (is_page_frame(node) || any_word(attribute(element, "role"), [](std::string_view role) {
        return std::find(kDroppedRoles.begin(), kDroppedRoles.end(), role) != kDroppedRoles.end();
      })) {
    return true;
  }
  if (any_word(attribute(element, "class"), is_dropped_word) ||
      any_word(attribute(element, "id"), is_dropped_word)) {
    return !keep_link_lists_ || element.tag == GUMBO_TAG_A;
  }
  return !keep_link_lists_ && is_link_list(node);
}

}  // namespace sibyl::answer::internal
