#include <charconv>
#include <cmath>

#include "store/internal/filter_lexer.h"
#include "store/internal/iso_date.h"
#include "text/utf8.h"

namespace sibyl::store {
namespace {

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return lower;
}

std::string shown(const Token& token) {
  return token.kind == TokenKind::End ? "the end" : fmt::format("'{}'", token.text);
}

/// filter = both { "or" both }; both = one { "and" one };
/// one = "not" one | "(" filter ")" | "exists" field | field test
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<FilterNode> run() {
    Result<FilterNode> root = parse_or(1);
    if (root && peek().kind != TokenKind::End) {
      return filter_error(peek().position,
                          fmt::format("expected 'and', 'or' or the end, not {}", shown(peek())));
    }
    return root;
  }

 private:
  const Token& peek() const { return tokens_[at_]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool at_word(std::string_view word) const {
    return peek().kind == TokenKind::Name && lower_ascii(peek().text) == word;
  }
  bool at_symbol(std::string_view symbol) const {
    return peek().kind == TokenKind::Symbol && peek().text == symbol;
  }
  bool skip_word(std::string_view word) { return at_word(word) && (take(), true); }
  bool skip_symbol(std::string_view symbol) { return at_symbol(symbol) && (take(), true); }

  Result<FilterNode> parse_or(size_t depth) {
    return parse_chain(NodeKind::Or, "or", [&] {
      return parse_chain(NodeKind::And, "and", [&] { return parse_one(depth); });
    });
  }

  template <class Part>
  Result<FilterNode> parse_chain(NodeKind kind, std::string_view word, const Part& part) {
    Result<FilterNode> first = part();
    if (!first || !at_word(word)) {
      return first;
    }
    FilterNode node;
    node.kind = kind;
    node.children.push_back(std::move(*first));
    while (skip_word(word)) {
      Result<FilterNode> next = part();
      if (!next) {
        return next;
      }
      node.children.push_back(std::move(*next));
    }
    return node;
  }

  Result<FilterNode> parse_one(size_t depth) {
    if (depth > kFilterDepthMax) {
      return filter_error(peek().position, fmt::format("more than {} levels of 'not' and brackets",
                                                       kFilterDepthMax));
    }
    if (skip_word("not")) {
      return negated(parse_one(depth + 1));
    }
    if (skip_symbol("(")) {
      Result<FilterNode> inner = parse_or(depth + 1);
      if (inner && !skip_symbol(")")) {
        return filter_error(peek().position, fmt::format("expected ')', not {}", shown(peek())));
      }
      return inner;
    }
    if (skip_word("exists")) {
      return parse_exists();
    }
    FilterNode node;
    if (Result<void> field = parse_field(node); !field) {
      return pass_on(field);
    }
    return parse_test(std::move(node));
  }

  static Result<FilterNode> negated(Result<FilterNode> inner) {
    if (!inner) {
      return inner;
    }
    FilterNode node;
    node.kind = NodeKind::Not;
    node.children.push_back(std::move(*inner));
    return node;
  }

  Result<FilterNode> parse_exists() {
    const bool bracket = skip_symbol("(");
    FilterNode node;
    node.kind = NodeKind::Exists;
    if (Result<void> field = parse_field(node); !field) {
      return pass_on(field);
    }
    if (bracket && !skip_symbol(")")) {
      return filter_error(peek().position, fmt::format("expected ')', not {}", shown(peek())));
    }
    return node;
  }

  static bool is_keyword(const Token& token) {
    const std::string word = lower_ascii(token.text);
    for (const std::string_view keyword :
         {"and", "or", "not", "in", "contains", "exists", "starts_with", "true", "false"}) {
      if (word == keyword) {
        return true;
      }
    }
    return false;
  }

  Result<void> parse_field(FilterNode& node) {
    do {
      const Token token = peek();
      if (token.kind != TokenKind::QuotedName &&
          (token.kind != TokenKind::Name || is_keyword(token))) {
        return filter_error(token.position,
                            fmt::format("expected the name of a field, not {} (odd names stand in "
                                        "backquotes)",
                                        shown(token)));
      }
      node.path.push_back(take().text);
      if (node.path.size() > kFilterDepthMax) {
        return filter_error(token.position,
                            fmt::format("a field has at most {} names", kFilterDepthMax));
      }
    } while (skip_symbol("."));
    return {};
  }

  Result<FilterNode> parse_test(FilterNode node) {
    const Token token = take();
    const std::string word =
        token.kind == TokenKind::Name ? lower_ascii(token.text) : std::string();
    if (word == "exists") {
      node.kind = NodeKind::Exists;
      return node;
    }
    if (word == "not" && at_word("in")) {
      return negated(parse_test(std::move(node)));
    }
    if (word == "in") {
      return parse_in(std::move(node));
    }
    if (word == "contains" || word == "starts_with") {
      node.kind = word == "contains" ? NodeKind::Contains : NodeKind::StartsWith;
      return parse_operand(std::move(node));
    }
    if (token.kind == TokenKind::Symbol) {
      static constexpr std::pair<std::string_view, NodeKind> kOperators[] = {
          {"=", NodeKind::Equal},      {"!=", NodeKind::NotEqual},     {"<", NodeKind::Less},
          {"<=", NodeKind::LessEqual}, {">=", NodeKind::GreaterEqual}, {">", NodeKind::Greater}};
      for (const auto& [symbol, kind] : kOperators) {
        if (token.text == symbol) {
          node.kind = kind;
          return parse_operand(std::move(node));
        }
      }
      if (token.text == "==" || token.text == "<>") {
        return filter_error(
            token.position,
            fmt::format("write '{}' instead of '{}'", token.text == "==" ? "=" : "!=", token.text));
      }
    }
    return filter_error(token.position,
                        fmt::format("expected one of = != < <= > >= in contains exists "
                                    "starts_with, not {}",
                                    shown(token)));
  }

  Result<FilterNode> parse_operand(FilterNode node) {
    const size_t position = peek().position;
    const bool equality = node.kind == NodeKind::Equal || node.kind == NodeKind::NotEqual;
    Result<Literal> value = parse_literal(equality);
    if (!value) {
      return pass_on(value);
    }
    if (node.kind == NodeKind::StartsWith && value->type != ValueType::Text) {
      return filter_error(position, "starts_with needs a text in quotes");
    }
    if (!equality && node.kind != NodeKind::Contains &&
        (value->type == ValueType::True || value->type == ValueType::False)) {
      return filter_error(position, "true and false are compared by = and !=");
    }
    node.value = std::move(*value);
    return node;
  }

  Result<FilterNode> parse_in(FilterNode node) {
    if (!at_symbol("[") && !at_symbol("(")) {
      return filter_error(
          peek().position,
          fmt::format("expected a list such as [\"a\", \"b\"], not {}", shown(peek())));
    }
    Result<Literal> list = parse_list();
    if (!list) {
      return pass_on(list);
    }
    node.kind = NodeKind::In;
    node.set = make_literal_set(std::move(list->items));
    return node;
  }

  Result<Literal> parse_list() {
    const std::string_view close = take().text == "[" ? "]" : ")";
    Literal list;
    list.type = ValueType::List;
    if (skip_symbol(close)) {
      return list;
    }
    do {
      Result<Literal> item = parse_literal(false);
      if (!item) {
        return item;
      }
      list.items.push_back(std::move(*item));
    } while (skip_symbol(","));
    if (!skip_symbol(close)) {
      return filter_error(peek().position,
                          fmt::format("expected ',' or '{}', not {}", close, shown(peek())));
    }
    return list;
  }

  Result<Literal> parse_literal(bool list_allowed) {
    if (list_allowed && at_symbol("[")) {
      return parse_list();
    }
    const Token token = take();
    Literal literal;
    if (token.kind == TokenKind::Text) {
      literal.type = ValueType::Text;
      literal.date_us = parse_iso_date(token.text);
      literal.text = token.text;
      return literal;
    }
    if (token.kind == TokenKind::Number) {
      return number_literal(token);
    }
    const std::string word =
        token.kind == TokenKind::Name ? lower_ascii(token.text) : std::string();
    if (word == "true" || word == "false") {
      literal.type = word == "true" ? ValueType::True : ValueType::False;
      return literal;
    }
    return filter_error(
        token.position,
        fmt::format("expected a number, true, false or a text in quotes, not {}", shown(token)));
  }

  static Result<Literal> number_literal(const Token& token) {
    const char* begin = token.text.data();
    const char* end = begin + token.text.size();
    Literal literal;
    const auto whole = std::from_chars(begin, end, literal.integer);
    if (whole.ec == std::errc() && whole.ptr == end) {
      literal.type = ValueType::Integer;
      literal.number = static_cast<double>(literal.integer);
      return literal;
    }
    const auto real = std::from_chars(begin, end, literal.number);
    if (real.ec != std::errc() || real.ptr != end || !std::isfinite(literal.number)) {
      return filter_error(token.position, fmt::format("{} is too large for a number", token.text));
    }
    literal.type = ValueType::Number;
    literal.integer = 0;
    return literal;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Filter>> Filter::parse(std::string_view text) {
  if (text.size() > kFilterBytesMax) {
    return fail_field(Code::TooLarge, "filter", "the filter has {} bytes; at most {} are taken",
                      text.size(), kFilterBytesMax);
  }
  if (!text::is_utf8(text)) {
    return fail_field(Code::InvalidArgument, "filter", "the filter is not valid UTF-8");
  }
  Result<std::vector<Token>> tokens = tokenize_filter(text);
  if (!tokens) {
    return pass_on(tokens);
  }
  Result<FilterNode> root = Parser(std::move(*tokens)).run();
  if (!root) {
    return pass_on(root);
  }
  return std::make_shared<const FilterTree>(std::move(*root));
}

}  // namespace sibyl::store
