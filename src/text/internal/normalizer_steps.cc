#include "text/internal/normalizer_steps.h"

#include <algorithm>

#include "text/internal/bert_characters.h"
#include "text/internal/compose.h"
#include "text/internal/unicode.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

/// Start of the code point that ends at `end`. What replaces a match stands for its last character,
/// as in the library.
size_t last_start(std::string_view text, size_t end) {
  size_t start = end - 1;
  while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) {
    --start;
  }
  return start;
}

}  // namespace

bool SignStep::add(char sign, const std::string& content) {
  auto& slot = contents_[static_cast<unsigned char>(sign)];
  if (slot || put_in_.find(sign) != std::string::npos) {
    return false;
  }
  slot = content;
  put_in_ += content;
  return true;
}

void SignStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (const auto& content = contents_[byte & 0x7FU]; byte < 0x80 && content) {
      append_with_origin(*content, i, i + 1, offsets, out);
    } else {
      append_with_origin(text.substr(i, 1), i, i + 1, offsets, out);
    }
  }
}

void LiteralStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  for (size_t at = 0; at < text.size();) {
    const size_t found = std::min(text.find(pattern_, at), text.size());
    for (; at < found; ++at) {
      append_with_origin(text.substr(at, 1), at, at + 1, offsets, out);
    }
    if (found < text.size()) {
      at = found + pattern_.size();
      append_with_origin(content_, last_start(text, at), at, offsets, out);
    }
  }
}

std::optional<RunStep::Pattern> RunStep::parse(std::string_view expression) {
  Pattern pattern;
  if (expression.starts_with("\\s")) {
    pattern.any_space = true;
    expression.remove_prefix(2);
  } else if (!expression.empty()) {
    constexpr std::string_view kSpecial = "\\^$.|?*+()[]{}";
    size_t at = 0;
    pattern.character = next_code_point(expression, at);
    if (at == 1 && kSpecial.find(expression[0]) != std::string_view::npos) {
      return std::nullopt;
    }
    expression.remove_prefix(at);
  } else {
    return std::nullopt;
  }
  if (expression.empty()) {
    pattern.greedy = false;
    return pattern;
  }
  if (expression == "+") {
    return pattern;
  }
  if (expression.size() == 4 && expression[0] == '{' && expression[1] >= '1' &&
      expression[1] <= '9' && expression.substr(2) == ",}") {
    pattern.count_min = static_cast<size_t>(expression[1] - '0');
    return pattern;
  }
  return std::nullopt;
}

void RunStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    size_t count = 0;
    size_t end = at;
    while (end < text.size() && (pattern_.greedy || count < pattern_.count_min)) {
      size_t next = end;
      const char32_t c = next_code_point(text, next);
      if (pattern_.any_space ? !is_space(c) : c != pattern_.character) {
        break;
      }
      ++count;
      end = next;
    }
    if (count >= pattern_.count_min) {
      append_with_origin(content_, last_start(text, end), end, offsets, out);
      at = end;
      continue;
    }
    if (end == begin) {
      next_code_point(text, end);
    }
    for (; at < end; ++at) {
      append_with_origin(text.substr(at, 1), at, at + 1, offsets, out);
    }
  }
}

void StripStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  size_t begin = 0;
  while (left_ && begin < text.size()) {
    size_t next = begin;
    if (!is_space(next_code_point(text, next))) {
      break;
    }
    begin = next;
  }
  size_t end = text.size();
  while (right_ && end > begin) {
    const size_t start = last_start(text, end);
    size_t next = start;
    if (!is_space(next_code_point(text, next))) {
      break;
    }
    end = start;
  }
  for (size_t i = begin; i < end; ++i) {
    append_with_origin(text.substr(i, 1), i, i + 1, offsets, out);
  }
}

void PrependStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  if (text.empty()) {
    return;
  }
  size_t first = 0;
  next_code_point(text, first);
  append_with_origin(content_, 0, first, offsets, out);
  for (size_t i = 0; i < text.size(); ++i) {
    append_with_origin(text.substr(i, 1), i, i + 1, offsets, out);
  }
}

void CharacterStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (kind_ == Kind::StripAccents) {
      if (!bert_is_accent(c)) {
        append_with_origin(text.substr(begin, at - begin), begin, at, offsets, out);
      }
      continue;
    }
    char32_t lower[3];
    const int count = bert_lower_case(c, lower);
    bytes.clear();
    for (int i = 0; i < count; ++i) {
      append_code_point(bytes, lower[i]);
    }
    append_with_origin(bytes, begin, at, offsets, out);
  }
}

void UnicodeStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  // Normal forms can be made apart for stretches that start with a code point that nothing before
  // it composes or changes places with.
  std::string part;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    next_code_point(text, at);
    while (at < text.size()) {
      size_t next = at;
      if (!joins_previous(next_code_point(text, next))) {
        break;
      }
      at = next;
    }
    const std::string_view given = text.substr(begin, at - begin);
    part = given;
    if (given.size() > 1) {  // ASCII never changes
      normalize_in_place(part, compose_, compatible_);
    }
    append_with_origin(part, begin, at, offsets, out);
  }
}

}  // namespace sibyl::text
