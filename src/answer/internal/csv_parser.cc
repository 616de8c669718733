#include "answer/internal/csv_parser.h"

#include <algorithm>

namespace sibyl::answer::internal {

Result<bool> CsvParser::next(CsvRow& row) {
  row.fields.clear();
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
    line_ += text_[at_] == '\n' ? 1 : 0;  // Empty lines are no records.
    ++at_;
  }
  row.line = line_;
  const size_t begin = at_;
  while (at_ < text_.size()) {
    std::string& field = row.fields.emplace_back();
    const bool quoted = text_[at_] == '"';
    if (auto read = quoted ? read_quoted(field, row.line) : read_bare(field); !read) {
      skip_line();
      return pass_on(read);
    }
    if (at_ - begin > row_bytes_max_) {
      skip_line();
      return fail(Code::TooLarge, "line {}: the row is longer than {} bytes", row.line,
                  row_bytes_max_);
    }
    if (at_ >= text_.size()) {
      return true;
    }
    if (text_[at_] == separator_) {
      ++at_;
      if (at_ == text_.size()) {
        row.fields.emplace_back();  // A separator at the very end leaves an empty last field.
      }
      continue;
    }
    at_ += text_[at_] == '\r' ? 1 : 0;
    if (at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
    }
    ++line_;
    return true;
  }
  return !row.fields.empty();
}

Result<void> CsvParser::read_quoted(std::string& field, uint64_t row_line) {
  const uint64_t opened = line_;
  ++at_;
  while (true) {
    const size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) {
      at_ = text_.size();
      return fail(Code::InvalidData, "line {}: a quote opens that is never closed", opened);
    }
    const std::string_view part = text_.substr(at_, quote - at_);
    if (field.size() + part.size() > row_bytes_max_) {
      at_ = quote;
      return fail(Code::TooLarge, "line {}: the row is longer than {} bytes", row_line,
                  row_bytes_max_);
    }
    field += part;
    line_ += static_cast<uint64_t>(std::count(part.begin(), part.end(), '\n'));
    at_ = quote + 1;
    if (at_ < text_.size() && text_[at_] == '"') {
      field += '"';
      ++at_;
      continue;
    }
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' &&
        text_[at_] != '\r') {
      return fail(Code::InvalidData,
                  "line {}: a stray quote: after the closing quote of a field a '{}' or the line's "
                  "end must follow; write quotes within a field twice",
                  line_, separator_ == '\t' ? std::string("tab") : std::string(1, separator_));
    }
    return {};
  }
}

Result<void> CsvParser::read_bare(std::string& field) {
  const char ends[] = {separator_, '\n', '\r', '"', '\0'};
  const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
  field = text_.substr(at_, end - at_);
  at_ = end;
  if (at_ < text_.size() && text_[at_] == '"') {
    return fail(Code::InvalidData,
                "line {}: a stray quote: a field that holds a quote must begin with one; write "
                "\"5\"\" pipe\" for 5\" pipe",
                line_);
  }
  return {};
}

void CsvParser::skip_line() {
  const size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  ++line_;
}

char csv_separator(std::string_view text, bool tabs) {
  if (tabs) {
    return '\t';
  }
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.find(',') == std::string_view::npos && first.find(';') != std::string_view::npos
             ? ';'
             : ',';
}

}  // namespace sibyl::answer::internal
