#include "store/internal/filter_lexer.h"

#include <cctype>

#include "text/utf8.h"

namespace sibyl::store {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

class Lexer {
 public:
  explicit Lexer(std::string_view filter) : filter_(filter) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    while (true) {
      while (at_ < filter_.size() &&
             std::string_view(" \t\r\n").find(filter_[at_]) != std::string_view::npos) {
        ++at_;
      }
      if (at_ == filter_.size()) {
        tokens.push_back({TokenKind::End, "", at_ + 1});
        return tokens;
      }
      Result<Token> token = next();
      if (!token) {
        return pass_on(token);
      }
      tokens.push_back(std::move(*token));
    }
  }

 private:
  Result<Token> next() {
    const char c = filter_[at_];
    const size_t begin = at_;
    if (is_name_start(c)) {
      while (at_ < filter_.size() && is_name_part(filter_[at_])) {
        ++at_;
      }
      return Token{TokenKind::Name, std::string(filter_.substr(begin, at_ - begin)), begin + 1};
    }
    if (c == '`') {
      return quoted_name();
    }
    if (c == '"' || c == '\'') {
      return text();
    }
    if (is_digit(c) || (c == '-' && at_ + 1 < filter_.size() && is_digit(filter_[at_ + 1]))) {
      return number();
    }
    for (const std::string_view symbol :
         {"!=", "<=", ">=", "==", "<>", "=", "<", ">", "(", ")", "[", "]", ",", "."}) {
      if (filter_.substr(at_).starts_with(symbol)) {
        at_ += symbol.size();
        return Token{TokenKind::Symbol, std::string(symbol), begin + 1};
      }
    }
    return filter_error(begin + 1, fmt::format("'{}' has no meaning here", c));
  }

  Result<Token> quoted_name() {
    const size_t begin = at_;
    const size_t end = filter_.find('`', begin + 1);
    if (end == std::string_view::npos || end == begin + 1) {
      return filter_error(begin + 1,
                          "a name in backquotes must end with a backquote and not be "
                          "empty");
    }
    at_ = end + 1;
    return Token{TokenKind::QuotedName, std::string(filter_.substr(begin + 1, end - begin - 1)),
                 begin + 1};
  }

  Result<Token> number() {
    const size_t begin = at_;
    at_ += filter_[at_] == '-' ? 1 : 0;
    while (at_ < filter_.size() && is_digit(filter_[at_])) {
      ++at_;
    }
    if (at_ + 1 < filter_.size() && filter_[at_] == '.' && is_digit(filter_[at_ + 1])) {
      ++at_;
      while (at_ < filter_.size() && is_digit(filter_[at_])) {
        ++at_;
      }
    }
    if (at_ < filter_.size() && (filter_[at_] == 'e' || filter_[at_] == 'E')) {
      size_t digits = at_ + 1;
      digits += digits < filter_.size() && (filter_[digits] == '-' || filter_[digits] == '+');
      if (digits < filter_.size() && is_digit(filter_[digits])) {
        at_ = digits;
        while (at_ < filter_.size() && is_digit(filter_[at_])) {
          ++at_;
        }
      }
    }
    if (at_ < filter_.size() && (is_name_part(filter_[at_]) || filter_[at_] == '-')) {
      return filter_error(begin + 1, "this is no number; a text or date stands in quotes");
    }
    return Token{TokenKind::Number, std::string(filter_.substr(begin, at_ - begin)), begin + 1};
  }

  Result<Token> text() {
    const size_t begin = at_;
    const char quote = filter_[at_++];
    std::string value;
    while (at_ < filter_.size() && filter_[at_] != quote) {
      if (filter_[at_] != '\\') {
        value.push_back(filter_[at_++]);
      } else if (Result<void> escaped = escape(value); !escaped) {
        return pass_on(escaped);
      }
    }
    if (at_ == filter_.size()) {
      return filter_error(begin + 1,
                          fmt::format("the text that starts here has no closing {}", quote));
    }
    ++at_;
    return Token{TokenKind::Text, std::move(value), begin + 1};
  }

  Result<void> escape(std::string& value) {
    const size_t begin = at_++;
    const char c = at_ < filter_.size() ? filter_[at_++] : '\0';
    switch (c) {
      case '"':
      case '\'':
      case '\\':
      case '/':
        value.push_back(c);
        return {};
      case 'n':
        value.push_back('\n');
        return {};
      case 't':
        value.push_back('\t');
        return {};
      case 'r':
        value.push_back('\r');
        return {};
      case 'u':
        return unicode_escape(value, begin);
      default:
        return filter_error(begin + 1, R"(after a backslash stands one of " ' \ / n t r uXXXX)");
    }
  }

  Result<void> unicode_escape(std::string& value, size_t begin) {
    char32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = at_ < filter_.size() ? filter_[at_++] : '\0';
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
        return filter_error(begin + 1, "\\u needs four hexadecimal digits");
      }
      code = code * 16 + static_cast<char32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
      return filter_error(begin + 1, "half a surrogate pair; write the character itself");
    }
    text::append_code_point(value, code);
    return {};
  }

  std::string_view filter_;
  size_t at_ = 0;
};

}  // namespace

tl::unexpected<Error> filter_error(size_t position, std::string_view what) {
  return fail_field(Code::InvalidArgument, "filter", "filter, position {}: {}", position, what);
}

Result<std::vector<Token>> tokenize_filter(std::string_view filter) {
  return Lexer(filter).run();
}

}  // namespace sibyl::store
