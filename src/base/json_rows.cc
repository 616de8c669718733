#include "base/json_rows.h"

#include "base/internal/json_depth.h"
#include "base/json.h"

namespace sibyl::base {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

tl::unexpected<Error> too_many(size_t rows_max) {
  return fail(Code::TooLarge, "the body has more than {} rows; send it in parts", rows_max);
}

Result<std::vector<JsonRow>> split_lines(std::string_view body, size_t rows_max) {
  std::vector<JsonRow> rows;
  size_t line = 0;
  for (size_t at = 0; at < body.size();) {
    ++line;
    const size_t end = std::min(body.find('\n', at), body.size());
    std::string_view text = body.substr(at, end - at);
    at = end + 1;
    const size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) {
      continue;
    }
    text = text.substr(first, text.find_last_not_of(kBlank) - first + 1);
    if (rows.size() == rows_max) {
      return too_many(rows_max);
    }
    rows.push_back({line, text});
  }
  return rows;
}

// Walks `[value, value, ...]`; `at` is behind the opening bracket.
class ArraySplitter {
 public:
  ArraySplitter(std::string_view body, size_t at) : body_(body), at_(at) {}

  Result<std::vector<JsonRow>> split(size_t rows_max) {
    std::vector<JsonRow> rows;
    if (next() == ']') {
      return finish(std::move(rows));
    }
    for (;;) {
      next();
      const std::string_view rest = body_.substr(at_);
      const size_t length = internal::json_value_length(rest, kJsonDepthMax);
      if (length == 0) {
        return fail(Code::InvalidData,
                    "the array cannot be split at byte {} (row {}): a value is missing, does not "
                    "end, or nests deeper than {}",
                    at_, rows.size() + 1, kJsonDepthMax);
      }
      if (rows.size() == rows_max) {
        return too_many(rows_max);
      }
      rows.push_back({rows.size() + 1, rest.substr(0, length)});
      at_ += length;
      const char after = next();
      if (after == ']') {
        return finish(std::move(rows));
      }
      if (after != ',') {
        return fail(Code::InvalidData, "the array needs ',' or ']' at byte {}, behind row {}", at_,
                    rows.size());
      }
      ++at_;
    }
  }

 private:
  // The next byte that is not blank, 0 at the end.
  char next() {
    at_ = std::min(body_.find_first_not_of(kBlank, at_), body_.size());
    return at_ < body_.size() ? body_[at_] : '\0';
  }
  Result<std::vector<JsonRow>> finish(std::vector<JsonRow> rows) {
    ++at_;
    if (next() != '\0' || at_ < body_.size()) {
      return fail(Code::InvalidData, "bytes follow the array at byte {}", at_);
    }
    return rows;
  }

  const std::string_view body_;
  size_t at_;
};

}  // namespace

Result<std::vector<JsonRow>> split_json_rows(std::string_view body, size_t rows_max) {
  if (body.starts_with("\xEF\xBB\xBF")) {
    body.remove_prefix(3);
  }
  const size_t first = body.find_first_not_of(kBlank);
  if (first != std::string_view::npos && body[first] == '[') {
    return ArraySplitter(body, first + 1).split(rows_max);
  }
  return split_lines(body, rows_max);
}

}  // namespace sibyl::base
