#include "answer/internal/markdown_reader.h"

#include <algorithm>
#include <optional>

#include "answer/internal/structured_text.h"
#include "base/json.h"
#include "base/yaml.h"

namespace sibyl::answer::internal {
namespace {

std::string_view strip(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool consists_of(std::string_view text, std::string_view signs) {
  return !text.empty() && text.find_first_not_of(signs) == std::string_view::npos;
}

size_t indent_of(std::string_view line) {
  size_t indent = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') {
      break;
    }
    indent += c == '\t' ? 4 : 1;
  }
  return indent;
}

/// Level of an ATX heading, 0 when the line is none.
int heading_level(std::string_view line) {
  if (indent_of(line) > 3) {
    return 0;
  }
  const std::string_view text = strip(line);
  size_t level = 0;
  while (level < text.size() && text[level] == '#') {
    ++level;
  }
  const bool right = level >= 1 && level <= 6 &&
                     (level == text.size() || text[level] == ' ' || text[level] == '\t');
  return right ? static_cast<int>(level) : 0;
}

std::string_view heading_text_of(std::string_view line) {
  std::string_view text = strip(line);
  text = strip(text.substr(std::min(text.find_first_not_of('#'), text.size())));
  const size_t last = text.find_last_not_of('#');
  if (last == std::string_view::npos) {
    return {};
  }
  // Closing hashes count only after a space: "C#" keeps its own.
  if (last + 1 < text.size() && (text[last] == ' ' || text[last] == '\t')) {
    text = strip(text.substr(0, last));
  }
  return text;
}

struct Fence {
  char sign = '`';
  size_t length = 0;
};
std::optional<Fence> fence_of(std::string_view line) {
  if (indent_of(line) > 3) {
    return std::nullopt;
  }
  const std::string_view text = strip(line);
  for (const char sign : {'`', '~'}) {
    const size_t length = std::min(text.find_first_not_of(sign), text.size());
    if (length >= 3 && (sign == '~' || text.find('`', length) == std::string_view::npos)) {
      return Fence{sign, length};
    }
  }
  return std::nullopt;
}

bool is_list_item(std::string_view text) {
  if (text.size() > 1 && (text[0] == '-' || text[0] == '*' || text[0] == '+') && text[1] == ' ') {
    return true;
  }
  const size_t digits = text.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && digits < 10 &&
         (text[digits] == '.' || text[digits] == ')') && digits + 1 < text.size() &&
         text[digits + 1] == ' ';
}

/// `[name]: target` lines hold no text.
bool is_link_definition(std::string_view text) {
  const size_t close = text.find("]:");
  return text.starts_with('[') && close != std::string_view::npos && close > 1 && close < 200;
}

bool is_table_rule(std::string_view text) {
  return text.find('-') != std::string_view::npos && text.find('|') != std::string_view::npos &&
         consists_of(text, "|-: \t");
}

class MarkdownReader {
 public:
  explicit MarkdownReader(std::string_view markdown) : rest_(markdown) {}

  Result<Document> run() {
    Document document;
    document.metadata = "{}";
    if (auto front = read_front_matter(document); !front) {
      return pass_on(front);
    }
    while (!rest_.empty()) {
      read_line(next_line());
    }
    flush_paragraph();
    const bool has_code = fence_ && !code_.empty();
    if (has_code) {  // A fence that is never closed reaches to the end.
      out_.add_verbatim(code_);
    }
    out_.finish(document);
    if (document.text.empty() && document.title.empty()) {
      return fail(Code::InvalidData, "Markdown: holds no text");
    }
    return document;
  }

 private:
  std::string_view next_line() {
    const size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    return line;
  }

  Result<void> read_front_matter(Document& document) {
    if (!rest_.starts_with("---\n") && !rest_.starts_with("---\r\n")) {
      return {};
    }
    const std::string_view whole = rest_;
    next_line();
    const std::string_view begin = rest_;
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (strip(line) == "---" || strip(line) == "...") {
        const std::string_view yaml =
            begin.substr(0, static_cast<size_t>(line.data() - begin.data()));
        return take_front_matter(yaml, whole, document);
      }
    }
    rest_ = whole;  // A rule at the start, not front matter.
    return {};
  }

  Result<void> take_front_matter(std::string_view yaml, std::string_view whole,
                                 Document& document) {
    auto front = base::parse_yaml(yaml, nullptr);
    if (!front) {
      return fail(Code::InvalidData, "front matter: {}", front.error().message);
    }
    if (!front->is_object()) {
      rest_ = front->is_null() ? rest_ : whole;
      return {};
    }
    base::Json metadata = base::Json::object();
    for (const auto& [key, value] : front->items()) {
      if (key == "title" && value.is_string()) {
        out_.set_title(collapse_space(value.get<std::string>()));
      } else if (key == "url" && value.is_string()) {
        document.url = value.get<std::string>();
      } else {
        metadata[key] = value;
      }
    }
    document.metadata = base::dump_json(metadata);
    return {};
  }

  void read_line(std::string_view line) {
    if (fence_) {
      read_code(line);
      return;
    }
    if (in_comment_) {
      in_comment_ = line.find("-->") == std::string_view::npos;
      return;
    }
    std::string_view text = strip(line);
    while (text.starts_with('>')) {  // Quotations are text.
      text = strip(text.substr(1));
    }
    if (text.starts_with("<!--")) {
      in_comment_ = text.find("-->") == std::string_view::npos;
      return;
    }
    if (const auto fence = fence_of(line)) {
      flush_paragraph();
      fence_ = fence;
      code_.clear();
      return;
    }
    if (const int level = heading_level(line); level > 0) {
      flush_paragraph();
      out_.add_heading(level, plain_inline(heading_text_of(line)));
      return;
    }
    if (!paragraph_.empty() && !in_list_ && indent_of(line) <= 3 &&
        (consists_of(text, "=") || consists_of(text, "-"))) {
      const std::string heading = std::move(paragraph_);
      paragraph_.clear();
      out_.add_heading(text.front() == '=' ? 1 : 2, heading);
      return;
    }
    read_text(line, text);
  }

  void read_text(std::string_view line, std::string_view text) {
    if (text.empty()) {
      flush_paragraph();
      return;
    }
    const bool is_rule = text.size() >= 3 && (consists_of(text, "- ") || consists_of(text, "* ") ||
                                              consists_of(text, "_ "));
    if (is_rule || is_table_rule(text) || (paragraph_.empty() && is_link_definition(text))) {
      return;
    }
    if (paragraph_.empty() && !in_list_ && indent_of(line) >= 4) {
      out_.break_line();
      out_.add_verbatim(line);  // Indented code.
      out_.break_line();
      return;
    }
    const bool item = is_list_item(text);
    if (item || text.starts_with('|')) {
      flush_lines();
      in_list_ = item || in_list_;
    }
    if (!paragraph_.empty()) {
      paragraph_ += ' ';
    }
    const bool starred = item && (text[0] == '*' || text[0] == '+');
    paragraph_ += starred ? "-" + plain_inline(text.substr(1)) : plain_inline(text);
  }

  void read_code(std::string_view line) {
    const std::string_view text = strip(line);
    const std::string_view sign(&fence_->sign, 1);
    if (consists_of(text, sign) && text.size() >= fence_->length && indent_of(line) <= 3) {
      fence_.reset();
      out_.break_paragraph();
      out_.add_verbatim(code_);
      out_.break_paragraph();
      return;
    }
    code_ += line;
    code_ += '\n';
  }

  void flush_lines() {
    if (!paragraph_.empty()) {
      out_.add_inline(paragraph_);
      out_.break_line();
      paragraph_.clear();
    }
  }

  void flush_paragraph() {
    flush_lines();
    out_.break_paragraph();
    in_list_ = false;
  }

  std::string_view rest_;
  StructuredText out_;
  std::string paragraph_;
  std::string code_;
  std::optional<Fence> fence_;
  bool in_comment_ = false;
  bool in_list_ = false;
};

}  // namespace

Result<Document> read_markdown(std::string_view markdown) {
  return MarkdownReader(markdown).run();
}

}  // namespace sibyl::answer::internal
