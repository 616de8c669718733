#include <algorithm>
#include <array>
#include <string>

#include "answer/internal/markdown_reader.h"

namespace sibyl::answer::internal {
namespace {

/// How far a bracket, tag or code span may reach; longer ones are text.
constexpr size_t kReach = 2000;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_sign(char c) {
  return c > ' ' && c < 0x7F && !is_word(c);
}

/// One pass over a line; every look ahead is bounded by kReach.
class InlineReader {
 public:
  explicit InlineReader(std::string_view line) : line_(line) {}

  std::string run() {
    while (at_ < line_.size()) {
      step();
    }
    return std::move(out_);
  }

 private:
  char look(size_t ahead) const { return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0'; }
  size_t find(char c, size_t from) const {
    const size_t found = line_.substr(0, std::min(line_.size(), from + kReach)).find(c, from);
    return found;
  }

  void step() {
    const char c = line_[at_];
    if (c == '\\' && is_sign(look(1))) {
      out_ += look(1);
      at_ += 2;
    } else if (c == '`') {
      code_span();
    } else if (c == '!' && look(1) == '[') {
      ++at_;  // An image is its description.
    } else if (c == '[') {
      open_bracket();
    } else if (c == ']' && open_ > 0) {
      close_bracket();
    } else if (c == '*' || c == '_' || c == '~') {
      marks(c);
    } else if (c == '<') {
      angle();
    } else if (c == '&') {
      entity();
    } else {
      out_ += c;
      ++at_;
    }
  }

  void code_span() {
    size_t ticks = 0;
    while (look(ticks) == '`') {
      ++ticks;
    }
    const std::string mark(ticks, '`');
    const std::string_view reach = line_.substr(0, std::min(line_.size(), at_ + ticks + kReach));
    const size_t end = reach.find(mark, at_ + ticks);
    if (end == std::string_view::npos) {
      out_ += mark;
      at_ += ticks;
      return;
    }
    out_ += line_.substr(at_ + ticks, end - at_ - ticks);
    at_ = end + ticks;
  }

  /// A bracket counts as a link's only when it is closed and followed by a target.
  void open_bracket() {
    size_t depth = 0;
    for (size_t i = at_; i < std::min(line_.size(), at_ + kReach); ++i) {
      depth += line_[i] == '[' ? 1 : 0;
      if (line_[i] != ']' || --depth != 0) {
        continue;
      }
      const char next = i + 1 < line_.size() ? line_[i + 1] : '\0';
      if ((next == '(' && find(')', i) != std::string_view::npos) ||
          (next == '[' && find(']', i + 1) != std::string_view::npos)) {
        ++open_;
        ++at_;
        return;
      }
      break;
    }
    out_ += line_[at_++];
  }

  void close_bracket() {
    --open_;
    ++at_;
    if (look(0) != '(' && look(0) != '[') {
      return;
    }
    const char open = look(0);
    const char close = open == '(' ? ')' : ']';
    size_t depth = 0;
    for (size_t i = at_; i < std::min(line_.size(), at_ + kReach); ++i) {
      depth += line_[i] == open ? 1 : 0;
      if (line_[i] == close && --depth == 0) {
        at_ = i + 1;
        return;
      }
    }
  }

  /// Emphasis: runs of * _ ~ beside a word, but not an underscore within one.
  void marks(char c) {
    size_t count = 0;
    while (look(count) == c) {
      ++count;
    }
    const char before = at_ > 0 ? line_[at_ - 1] : ' ';
    const char after = look(count);
    const bool in_word = is_word(before) && is_word(after);
    const bool alone = (before == ' ' || at_ == 0) && (after == ' ' || after == '\0');
    const bool stays = alone || (c == '_' && in_word) || (c == '~' && count != 2) || count > 3;
    if (stays) {
      out_.append(count, c);
    }
    at_ += count;
  }

  void angle() {
    const size_t end = find('>', at_);
    if (end == std::string_view::npos) {
      out_ += line_[at_++];
      return;
    }
    const std::string_view inner = line_.substr(at_ + 1, end - at_ - 1);
    const bool is_link = inner.find(' ') == std::string_view::npos &&
                         (inner.find("://") != std::string_view::npos ||
                          (inner.find('@') != std::string_view::npos && is_word(inner.front())));
    const char first = inner.empty() ? ' ' : inner.front();
    const bool is_tag = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                        first == '/' || first == '!' || first == '?';
    if (is_link) {
      out_ += inner;
    }
    if (is_link || is_tag) {
      at_ = end + 1;
      return;
    }
    out_ += line_[at_++];
  }

  void entity() {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEntities = {
        {{"&amp;", "&"},
         {"&lt;", "<"},
         {"&gt;", ">"},
         {"&quot;", "\""},
         {"&#39;", "'"},
         {"&nbsp;", " "},
         {"&mdash;", "\xE2\x80\x94"},
         {"&ndash;", "\xE2\x80\x93"}}};
    for (const auto& [name, text] : kEntities) {
      if (line_.substr(at_).starts_with(name)) {
        out_ += text;
        at_ += name.size();
        return;
      }
    }
    out_ += line_[at_++];
  }

  std::string_view line_;
  size_t at_ = 0;
  size_t open_ = 0;  ///< brackets of links that are open
  std::string out_;
};

}  // namespace

std::string plain_inline(std::string_view line) {
  return InlineReader(line).run();
}

}  // namespace sibyl::answer::internal
