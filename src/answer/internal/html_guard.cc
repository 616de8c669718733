#include "answer/internal/html_guard.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace sibyl::answer::internal {
namespace {

constexpr size_t kReopenedMax = size_t{4} << 20;
constexpr size_t kFormattingMax = 512;
/// How far back an implied end tag looks for the element that it ends.
constexpr size_t kImpliedReach = 16;

template <size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 16> kVoid = {
    "area",  "base", "br",   "col",   "embed",  "hr",    "img", "input",
    "frame", "link", "meta", "param", "source", "track", "wbr", "keygen"};
constexpr std::array<std::string_view, 14> kFormatting = {
    "a",    "b", "big",   "code",   "em",     "font", "i",
    "nobr", "s", "small", "strike", "strong", "tt",   "u"};
constexpr std::array<std::string_view, 3> kMarkers = {"td", "th", "caption"};
constexpr std::array<std::string_view, 5> kRawText = {"script", "style", "textarea", "title",
                                                      "noscript"};
constexpr std::array<std::string_view, 9> kContainers = {
    "ul", "ol", "dl", "table", "select", "button", "menu", "article", "section"};

/// Elements that end each other without an end tag; 0: none.
int implied_group(std::string_view name) {
  if (name == "p") {
    return 1;
  }
  if (name == "li") {
    return 2;
  }
  if (name == "dt" || name == "dd") {
    return 3;
  }
  if (name == "td" || name == "th") {
    return 4;
  }
  if (name == "tr") {
    return 5;
  }
  if (name == "thead" || name == "tbody" || name == "tfoot") {
    return 6;
  }
  return name == "option" || name == "optgroup" ? 7 : 0;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

class ShapeScanner {
 public:
  ShapeScanner(std::string_view html, size_t depth_max) : html_(html), depth_max_(depth_max) {}

  Result<void> run() {
    size_t at = 0;
    while ((at = html_.find('<', at)) != std::string_view::npos) {
      if (html_.substr(at).starts_with("<!--")) {
        at = after_comment(at);
        continue;
      }
      const bool ends = at + 1 < html_.size() && html_[at + 1] == '/';
      const size_t name_at = at + (ends ? 2 : 1);
      if (name_at >= html_.size() || !is_letter(html_[name_at])) {
        ++at;
        continue;
      }
      size_t name_end = name_at;
      while (name_end < html_.size() && name_end - name_at < 32 &&
             (is_letter(html_[name_end]) || (html_[name_end] >= '0' && html_[name_end] <= '9') ||
              html_[name_end] == '-')) {
        ++name_end;
      }
      const std::string name = lower(html_.substr(name_at, name_end - name_at));
      const size_t close = after_tag(name_end);
      if (ends) {
        end_tag(name);
      } else {
        const std::string_view attributes = html_.substr(name_end, close - name_end);
        if (auto started = start_tag(name, attributes); !started) {
          return started;
        }
        if (is_one_of(name, kRawText) && foreign_ == 0) {
          at = before_end_tag(name, close);
          continue;
        }
      }
      at = close;
    }
    return {};
  }

 private:
  struct Format {
    std::string name;  ///< empty: a marker
    uint64_t attributes = 0;
  };

  size_t after_comment(size_t at) const {
    const size_t inside = at + 4;
    for (const std::string_view abrupt : {">", "->"}) {
      if (html_.substr(inside).starts_with(abrupt)) {
        return inside + abrupt.size();
      }
    }
    const size_t end = std::min(html_.find("-->", inside), html_.find("--!>", inside));
    return end == std::string_view::npos ? html_.size() : end + 3;
  }

  /// Past the '>' of a tag, quoted attribute values skipped.
  size_t after_tag(size_t at) const {
    char quote = 0;
    char before = 0;
    for (; at < html_.size(); ++at) {
      const char c = html_[at];
      if (quote != 0) {
        quote = c == quote ? '\0' : quote;
      } else if ((c == '"' || c == '\'') && before == '=') {
        quote = c;
      } else if (c == '>') {
        return at + 1;
      }
      before = c == ' ' || c == '\t' || c == '\n' || c == '\r' ? before : c;
    }
    return html_.size();
  }

  size_t before_end_tag(const std::string& name, size_t at) const {
    while ((at = html_.find("</", at)) != std::string_view::npos) {
      if (lower(html_.substr(at + 2, name.size())) == name) {
        return at;
      }
      at += 2;
    }
    return html_.size();
  }

  Result<void> start_tag(const std::string& name, std::string_view attributes) {
    const bool self_closed = foreign_ > 0 && attributes.ends_with("/>");
    if (is_one_of(name, kVoid) || self_closed) {
      return {};
    }
    imply_ends(name);
    stack_.push_back(name);
    foreign_ += name == "svg" || name == "math" ? 1 : 0;
    if (stack_.size() > depth_max_) {
      return fail(Code::InvalidData, "HTML: elements nest deeper than {} levels", depth_max_);
    }
    if (is_one_of(name, kMarkers)) {
      formats_.push_back({});
    }
    if (!is_one_of(name, kFormatting)) {
      reopened_ += formats_.size();
      if (reopened_ > kReopenedMax) {
        return fail(Code::InvalidData, "HTML: too many unclosed formatting elements");
      }
      return {};
    }
    const uint64_t hash = base::hash64(attributes);
    const auto same = [&](const Format& format) {
      return format.name == name && (format.attributes == hash || name == "a" || name == "nobr");
    };
    const ptrdiff_t most = name == "a" || name == "nobr" ? 1 : 3;
    if (std::count_if(formats_.begin(), formats_.end(), same) >= most) {
      formats_.erase(std::find_if(formats_.begin(), formats_.end(), same));
    }
    formats_.push_back({name, hash});
    return formats_.size() <= kFormattingMax
               ? Result<void>{}
               : fail(Code::InvalidData, "HTML: more than {} unclosed formatting elements",
                      kFormattingMax);
  }

  void imply_ends(const std::string& name) {
    const int group = implied_group(name);
    if (group == 0) {
      return;
    }
    for (size_t back = 0; back < std::min(stack_.size(), kImpliedReach); ++back) {
      const std::string& open = stack_[stack_.size() - 1 - back];
      if (implied_group(open) == group) {
        pop(back + 1);
        return;
      }
      if (is_one_of(open, kContainers)) {
        return;
      }
    }
  }

  void end_tag(const std::string& name) {
    if (is_one_of(name, kFormatting)) {
      for (size_t i = formats_.size(); i-- > 0 && !formats_[i].name.empty();) {
        if (formats_[i].name == name) {
          formats_.erase(formats_.begin() + static_cast<ptrdiff_t>(i));
          break;
        }
      }
    }
    for (size_t back = 0; back < stack_.size(); ++back) {
      if (stack_[stack_.size() - 1 - back] == name) {
        pop(back + 1);
        return;
      }
    }
  }

  void pop(size_t count) {
    for (; count > 0; --count) {
      const std::string& name = stack_.back();
      foreign_ -= name == "svg" || name == "math" ? 1 : 0;
      if (is_one_of(name, kMarkers)) {
        while (!formats_.empty() && !formats_.back().name.empty()) {
          formats_.pop_back();
        }
        if (!formats_.empty()) {
          formats_.pop_back();
        }
      }
      stack_.pop_back();
    }
  }

  std::string_view html_;
  size_t depth_max_;
  std::vector<std::string> stack_;
  std::vector<Format> formats_;
  size_t reopened_ = 0;
  int foreign_ = 0;
};

}  // namespace

Result<void> check_html_shape(std::string_view html, size_t depth_max) {
  return ShapeScanner(html, depth_max).run();
}

}  // namespace sibyl::answer::internal
