#include "base/csv.h"

#include <utility>

#include "base/gzip.h"

namespace sibyl::base {
namespace {

// Puts lines together into records: a quoted field may hold line ends.
class CsvParser {
 public:
  CsvParser(char delimiter, uint64_t record_bytes_max,
            const std::function<bool(CsvRecord&&)>& on_record)
      : delimiter_(delimiter), record_bytes_max_(record_bytes_max), on_record_(on_record) {}

  bool add(const Line& line) {
    std::string_view text = line.text;
    if (line.number == 1 && text.starts_with("\xEF\xBB\xBF")) {
      text.remove_prefix(3);
    }
    if (line.too_long || bytes_ + text.size() > record_bytes_max_) {
      begin(line.number);
      record_.error = fmt::format("longer than {} bytes", record_bytes_max_);
      return give();
    }
    if (!in_quotes_ && text.empty()) {
      return true;
    }
    bytes_ += text.size() + 1;
    if (in_quotes_) {
      field_.push_back('\n');
    } else {
      begin(line.number);
    }
    if (!parse(text)) {
      return give();
    }
    if (in_quotes_) {
      return true;
    }
    end_field();
    return give();
  }

  void end() {
    if (in_quotes_) {
      record_.error = "a quote that begins here is not closed before the end of the file";
      give();
    }
  }

 private:
  void begin(uint64_t line) {
    if (record_.line == 0) {
      record_.line = line;
    }
  }

  // False when the line is wrong; the record then ends here.
  bool parse(std::string_view text) {
    for (size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (in_quotes_) {
        if (c != '"') {
          field_.push_back(c);
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          field_.push_back('"');
          ++at;
        } else {
          in_quotes_ = false;
          was_quoted_ = true;
        }
      } else if (c == delimiter_) {
        end_field();
      } else if (c == '"' && field_.empty() && !was_quoted_) {
        in_quotes_ = true;
      } else if (c == '"' || was_quoted_) {
        record_.error = fmt::format(
            "a stray quote at column {}; a field with quotes is put in quotes and they are doubled",
            at + 1);
        return false;
      } else {
        field_.push_back(c);
      }
    }
    return true;
  }

  void end_field() {
    record_.fields.push_back(std::move(field_));
    field_.clear();
    was_quoted_ = false;
  }

  bool give() {
    if (!record_.error.empty()) {
      record_.fields.clear();
    }
    const bool go_on = on_record_(std::move(record_));
    record_ = CsvRecord();
    field_.clear();
    in_quotes_ = false;
    was_quoted_ = false;
    bytes_ = 0;
    return go_on;
  }

  const char delimiter_;
  const uint64_t record_bytes_max_;
  const std::function<bool(CsvRecord&&)>& on_record_;
  CsvRecord record_;
  std::string field_;
  bool in_quotes_ = false;
  bool was_quoted_ = false;  // the field's closing quote has been read
  uint64_t bytes_ = 0;
};

}  // namespace

Result<void> for_each_csv_record(const std::string& path, char delimiter, uint64_t record_bytes_max,
                                 const std::function<bool(CsvRecord&&)>& on_record) {
  CsvParser parser(delimiter, record_bytes_max, on_record);
  bool stopped = false;
  auto done = for_each_line(path, record_bytes_max, [&](const Line& line) {
    stopped = !parser.add(line);
    return !stopped;
  });
  if (done && !stopped) {
    parser.end();
  }
  return done;
}

}  // namespace sibyl::base
