#include "answer/internal/blend_expression.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sibyl::answer::internal {
namespace {

using Kind = BlendStep::Kind;

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Recursive descent; the depth counts parentheses and signs, so recursion is bounded.
class Compiler {
 public:
  explicit Compiler(std::string_view text) : text_(text) {}

  Result<std::vector<BlendStep>> run() {
    if (text_.size() > kBlendBytesMax) {
      return fail_field(Code::InvalidArgument, "blend", "blend: has {} bytes; at most {} are right",
                        text_.size(), kBlendBytesMax);
    }
    if (auto sum = parse_sum(0); !sum) {
      return pass_on(sum);
    }
    skip_space();
    if (position_ < text_.size()) {
      return expected("+ - * / or the end");
    }
    return std::move(steps_);
  }

 private:
  tl::unexpected<Error> expected(std::string_view what) {
    const std::string found = position_ < text_.size()
                                  ? fmt::format("'{}'", text_.substr(position_, 1))
                                  : std::string("the end");
    return fail_field(Code::InvalidArgument, "blend", "blend: position {}: found {}, expected {}",
                      position_ + 1, found, what);
  }
  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t' ||
                                        text_[position_] == '\n' || text_[position_] == '\r')) {
      ++position_;
    }
  }
  bool take(char c) {
    skip_space();
    if (position_ < text_.size() && text_[position_] == c) {
      ++position_;
      return true;
    }
    return false;
  }
  void emit(Kind kind) { steps_.push_back({kind, 0, 0}); }

  Result<void> parse_sum(size_t depth) {
    if (auto first = parse_product(depth); !first) {
      return first;
    }
    while (true) {
      const bool add = take('+');
      if (!add && !take('-')) {
        return {};
      }
      if (auto next = parse_product(depth); !next) {
        return next;
      }
      emit(add ? Kind::Add : Kind::Subtract);
    }
  }

  Result<void> parse_product(size_t depth) {
    if (auto first = parse_factor(depth); !first) {
      return first;
    }
    while (true) {
      const bool multiply = take('*');
      if (!multiply && !take('/')) {
        return {};
      }
      if (auto next = parse_factor(depth); !next) {
        return next;
      }
      emit(multiply ? Kind::Multiply : Kind::Divide);
    }
  }

  Result<void> parse_factor(size_t depth) {
    skip_space();
    if (depth >= kBlendDepthMax) {
      return fail_field(Code::InvalidArgument, "blend",
                        "blend: position {}: nested deeper than {} levels", position_ + 1,
                        kBlendDepthMax);
    }
    if (take('(')) {
      if (auto inner = parse_sum(depth + 1); !inner) {
        return inner;
      }
      return take(')') ? Result<void>{} : Result<void>(expected("')'"));
    }
    if (take('-')) {
      if (auto inner = parse_factor(depth + 1); !inner) {
        return inner;
      }
      emit(Kind::Negate);
      return {};
    }
    if (take('+')) {
      return parse_factor(depth + 1);
    }
    if (position_ < text_.size() && (is_digit(text_[position_]) || text_[position_] == '.')) {
      return parse_number();
    }
    if (position_ < text_.size() && is_name_start(text_[position_])) {
      return parse_name();
    }
    return expected("a number, a retrieval's name or '('");
  }

  Result<void> parse_number() {
    double value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (problem != std::errc{} || !std::isfinite(value)) {
      return expected("a number");
    }
    position_ += static_cast<size_t>(end - begin);
    steps_.push_back({Kind::Number, 0, value});
    return {};
  }

  Result<void> parse_name() {
    const size_t begin = position_;
    while (position_ < text_.size() &&
           (is_name_start(text_[position_]) || is_digit(text_[position_]))) {
      ++position_;
    }
    std::string_view name = text_.substr(begin, position_ - begin);
    Kind kind = Kind::Feature;
    for (const auto& [prefix, of] : {std::pair{std::string_view("max_"), Kind::Max},
                                     {"min_", Kind::Min},
                                     {"count_", Kind::Count}}) {
      if (name.starts_with(prefix)) {
        name.remove_prefix(prefix.size());
        kind = of;
        break;
      }
    }
    for (size_t r = 0; r < kRetrievals; ++r) {
      if (name == kRetrievalNames[r]) {
        steps_.push_back({kind, static_cast<uint8_t>(r), 0});
        return {};
      }
    }
    return fail_field(Code::InvalidArgument, "blend",
                      "blend: position {}: '{}' is no retrieval; there are {}, each also with "
                      "max_, min_ or count_ before it",
                      begin + 1, text_.substr(begin, position_ - begin),
                      fmt::join(kRetrievalNames, ", "));
  }

  std::string_view text_;
  size_t position_ = 0;
  std::vector<BlendStep> steps_;
};

}  // namespace

Result<std::vector<BlendStep>> compile_blend(std::string_view text) {
  return Compiler(text).run();
}

}  // namespace sibyl::answer::internal
