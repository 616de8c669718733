#include "job/internal/pairs_reader.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/csv.h"
#include "base/gzip.h"
#include "base/json.h"

namespace sibyl::job::internal {
namespace {

using base::Json;

constexpr uint64_t kRowBytesMax = uint64_t{32} << 20;
constexpr size_t kRowsMax = 50'000'000;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Takes the row, or says what is wrong with it; empty when it is right.
using TakeRow = std::function<std::string(PairRow&&, bool has_answer, bool has_id)>;

class Collector {
 public:
  explicit Collector(const std::string& path) { out_.file = path; }

  bool take(PairRow&& row, bool has_answer, bool has_id) {
    if (has_answer == has_id) {
      return wrong(row.line, has_answer ? "answer and answer_id are both there; give one"
                                        : "answer (text) or answer_id (document id) is missing");
    }
    if (blank(row.question) || blank(has_id ? row.answer_id : row.answer)) {
      ++out_.empty_dropped;
      return true;
    }
    if (out_.rows.size() >= kRowsMax) {
      return wrong(row.line, fmt::format("more than {} rows", kRowsMax)) && false;
    }
    out_.rows.push_back(std::move(row));
    return true;
  }
  bool wrong(uint64_t line, const std::string& reason) {
    wrong_.add(out_.file, line, reason);
    return true;
  }
  Result<PairRows> finish() {
    if (wrong_.any()) {
      return tl::unexpected<Error>(wrong_.error());
    }
    if (out_.rows.empty()) {
      return fail(Code::InvalidData, "{} holds no pair of question and answer", out_.file);
    }
    return std::move(out_);
  }

 private:
  PairRows out_;
  WrongLines wrong_;
};

// An id may be a number in the file; it is a text everywhere else.
bool read_text(const Json& object, const char* key, bool number_too, std::string& out,
               bool& present, std::string& reason) {
  const auto found = object.find(key);
  present = found != object.end() && !found->is_null();
  if (!present) {
    return true;
  }
  if (found->is_string()) {
    out = found->get<std::string>();
  } else if (number_too && found->is_number_integer()) {
    out = base::dump_json(*found);
  } else {
    reason = fmt::format("{} must be a text", key);
    return false;
  }
  return true;
}

bool take_json_line(const base::Line& line, Collector& collector) {
  if (line.too_long) {
    return collector.wrong(line.number, fmt::format("longer than {} bytes", kRowBytesMax));
  }
  if (blank(line.text)) {
    return true;
  }
  const auto json = base::parse_json(line.text, "not a pair");
  if (!json) {
    return collector.wrong(line.number, json.error().message);
  }
  if (!json->is_object()) {
    return collector.wrong(line.number, "must be a JSON object");
  }
  PairRow row;
  row.line = line.number;
  bool has_question = false;
  bool has_answer = false;
  bool has_id = false;
  std::string reason;
  if (!read_text(*json, "question", false, row.question, has_question, reason) ||
      !read_text(*json, "answer", false, row.answer, has_answer, reason) ||
      !read_text(*json, "answer_id", true, row.answer_id, has_id, reason)) {
    return collector.wrong(line.number, reason);
  }
  if (!has_question) {
    return collector.wrong(line.number, "question is missing");
  }
  return collector.take(std::move(row), has_answer, has_id);
}

Result<void> read_json_lines(const std::string& path, Collector& collector) {
  return base::for_each_line(
      path, kRowBytesMax, [&](const base::Line& line) { return take_json_line(line, collector); });
}

struct Columns {
  size_t question = SIZE_MAX;
  size_t answer = SIZE_MAX;
  size_t answer_id = SIZE_MAX;
};

Result<Columns> find_columns(const std::string& path, const std::vector<std::string>& header) {
  Columns columns;
  const auto place = [&](std::string_view name) {
    const auto found = std::find(header.begin(), header.end(), name);
    return found == header.end() ? SIZE_MAX : static_cast<size_t>(found - header.begin());
  };
  columns.question = place("question");
  columns.answer = place("answer");
  columns.answer_id = place("answer_id");
  if (columns.question == SIZE_MAX ||
      (columns.answer == SIZE_MAX && columns.answer_id == SIZE_MAX)) {
    return fail(Code::InvalidData,
                "{} line 1: the header is '{}'; it needs question and answer or answer_id", path,
                fmt::join(header, ","));
  }
  return columns;
}

Result<void> read_table(const std::string& path, char delimiter, Collector& collector) {
  Columns columns;
  bool has_header = false;
  size_t width = 0;
  Result<void> header_error;
  auto done =
      base::for_each_csv_record(path, delimiter, kRowBytesMax, [&](base::CsvRecord&& record) {
        if (!record.error.empty()) {
          return collector.wrong(record.line, record.error);
        }
        if (!has_header) {
          auto found = find_columns(path, record.fields);
          if (!found) {
            header_error = pass_on(found);
            return false;
          }
          columns = *found;
          width = record.fields.size();
          has_header = true;
          return true;
        }
        if (record.fields.size() != width) {
          return collector.wrong(record.line, fmt::format("has {} fields; the header has {}",
                                                          record.fields.size(), width));
        }
        PairRow row;
        row.line = record.line;
        row.question = std::move(record.fields[columns.question]);
        const auto cell = [&](size_t at) {
          return at == SIZE_MAX ? std::string() : std::move(record.fields[at]);
        };
        row.answer = cell(columns.answer);
        row.answer_id = cell(columns.answer_id);
        // With both columns each row fills one of them; with one an empty cell is an empty answer.
        const bool both = columns.answer != SIZE_MAX && columns.answer_id != SIZE_MAX;
        const bool has_answer = both ? !row.answer.empty() : columns.answer != SIZE_MAX;
        const bool has_id = both ? !row.answer_id.empty() : columns.answer_id != SIZE_MAX;
        return collector.take(std::move(row), has_answer, has_id);
      });
  return header_error ? done : header_error;
}

std::string_view without_gz(std::string_view path) {
  return path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
}

}  // namespace

void WrongLines::add(const std::string& file, uint64_t line, const std::string& reason) {
  if (++count_ <= kShown) {
    text_ += fmt::format("{}{} line {}: {}", text_.empty() ? "" : "; ", file, line, reason);
  }
}

Error WrongLines::error() const {
  const std::string more = count_ > kShown ? fmt::format("; and {} more", count_ - kShown) : "";
  return {Code::InvalidData, text_ + more, {}};
}

Result<PairRows> read_pairs(const std::string& path) {
  Collector collector(path);
  const std::string_view name = without_gz(path);
  auto done = name.ends_with(".csv")   ? read_table(path, ',', collector)
              : name.ends_with(".tsv") ? read_table(path, '\t', collector)
                                       : read_json_lines(path, collector);
  if (!done) {
    return pass_on(done);
  }
  return collector.finish();
}

}  // namespace sibyl::job::internal
