#include "train/internal/dataset.h"

#include <algorithm>
#include <functional>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_rows.h"

namespace sibyl::train {
namespace {

using base::Json;

constexpr size_t kRowsMax = size_t{1} << 26;

/// FNV-1a. Every part is led by its length, so that nothing moves from one part to the next unseen.
class Fingerprint {
 public:
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      add_byte(static_cast<unsigned char>(number >> shift));
    }
  }
  void add(std::string_view text) {
    add(uint64_t{text.size()});
    for (const char byte : text) {
      add_byte(static_cast<unsigned char>(byte));
    }
  }
  void add(const std::vector<LabelledQuestion>& questions) {
    add(uint64_t{questions.size()});
    for (const LabelledQuestion& question : questions) {
      add(question.question);
      add(uint64_t{question.passages.size()});
      for (const uint32_t passage : question.passages) {
        add(uint64_t{passage});
      }
    }
  }
  [[nodiscard]] uint64_t value() const { return hash_; }

 private:
  void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }

  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

/// Calls `row` with every line's object; its error gets file and line.
Result<void> for_each_row(const std::string& path,
                          const std::function<Result<void>(const Json&)>& row) {
  auto file = base::real_file_system().map(path);
  if (!file) {
    return pass_on(file);
  }
  auto rows = base::split_json_rows((*file)->bytes(), kRowsMax);
  if (!rows) {
    return pass_on(rows, path);
  }
  for (const base::JsonRow& line : *rows) {
    const std::string where = fmt::format("{} line {}", path, line.line);
    auto value = base::parse_json(line.text, where);
    if (!value) {
      return fail(Code::InvalidData, "{}", value.error().message);
    }
    if (!value->is_object()) {
      return fail(Code::InvalidData, "{}: must be a JSON object", where);
    }
    auto done = row(*value);
    if (!done) {
      return fail(Code::InvalidData, "{}: {}", where, done.error().message);
    }
  }
  return {};
}

Result<std::string> text_field(const Json& row, std::string_view key) {
  const auto found = row.find(key);
  if (found == row.end() || !found->is_string()) {
    return fail(Code::InvalidData, "'{}' must be a text", key);
  }
  return found->get<std::string>();
}

Result<uint32_t> passage_index(const Json& value, size_t passages) {
  if (!value.is_number_integer() || value.get<int64_t>() < 0 ||
      static_cast<uint64_t>(value.get<int64_t>()) >= passages) {
    return fail(Code::InvalidData, "passage {} is not one of the {} lines of passages.jsonl",
                value.dump(-1, ' ', false, Json::error_handler_t::replace), passages);
  }
  return static_cast<uint32_t>(value.get<int64_t>());
}

Result<LabelledQuestion> labelled_question(const Json& row, size_t passages) {
  LabelledQuestion out;
  auto question = text_field(row, "question");
  if (!question) {
    return pass_on(question);
  }
  out.question = std::move(*question);
  const auto list = row.find("passages");
  if (list == row.end() || !list->is_array() || list->empty()) {
    return fail(Code::InvalidData, "'passages' must be a list of at least one passage index");
  }
  for (const Json& item : *list) {
    auto index = passage_index(item, passages);
    if (!index) {
      return pass_on(index);
    }
    out.passages.push_back(*index);
  }
  std::ranges::sort(out.passages);
  out.passages.erase(std::ranges::unique(out.passages).begin(), out.passages.end());
  return out;
}

Result<ColdPair> cold_pair(const Json& row, size_t passages) {
  ColdPair out;
  auto question = text_field(row, "question");
  if (!question) {
    return pass_on(question);
  }
  out.question = std::move(*question);
  const auto passage = row.find("passage");
  auto index = passage_index(passage == row.end() ? Json() : *passage, passages);
  if (!index) {
    return pass_on(index);
  }
  out.passage = *index;
  const auto text = row.find("text");
  if (text != row.end() && !text->is_null()) {
    if (!text->is_string()) {
      return fail(Code::InvalidData, "'text' must be a text");
    }
    out.text = text->get<std::string>();
  }
  return out;
}

template <class T>
Result<void> read_rows(const std::string& path, size_t passages, std::vector<T>& out,
                       Result<T> (*parse)(const Json&, size_t)) {
  return for_each_row(path, [&](const Json& row) -> Result<void> {
    auto item = parse(row, passages);
    if (!item) {
      return pass_on(item);
    }
    out.push_back(std::move(*item));
    return {};
  });
}

Result<void> refuse_empty(bool empty, const std::string& path) {
  if (empty) {
    return fail(Code::InvalidData, "{} holds no row; training needs at least one", path);
  }
  return {};
}

}  // namespace

Result<Dataset> read_dataset(const std::string& folder, const DatasetNeeds& needs) {
  Dataset data;
  const auto path = [&](std::string_view name) { return base::join_path(folder, name); };
  auto done = for_each_row(path("passages.jsonl"), [&](const Json& row) -> Result<void> {
    auto text = text_field(row, "text");
    if (!text) {
      return pass_on(text);
    }
    data.passages.push_back(std::move(*text));
    return {};
  });
  if (done) {
    done = refuse_empty(data.passages.empty(), path("passages.jsonl"));
  }
  if (done && needs.pairs) {
    done = read_rows(path("pairs.jsonl"), data.passages.size(), data.pairs, labelled_question);
    if (done) {
      done = refuse_empty(data.pairs.empty(), path("pairs.jsonl"));
    }
  }
  if (done && needs.cold) {
    done = read_rows(path("cold.jsonl"), data.passages.size(), data.cold, cold_pair);
    if (done) {
      done = refuse_empty(data.cold.empty(), path("cold.jsonl"));
    }
  }
  if (done && base::real_file_system().exists(path("valid.jsonl"))) {
    done = read_rows(path("valid.jsonl"), data.passages.size(), data.valid, labelled_question);
  }
  if (!done) {
    return pass_on(done);
  }
  return data;
}

std::string fingerprint(std::string_view job, const Dataset& data) {
  Fingerprint hash;
  hash.add(job);
  hash.add(uint64_t{data.passages.size()});
  for (const std::string& passage : data.passages) {
    hash.add(passage);
  }
  hash.add(data.pairs);
  hash.add(data.valid);
  hash.add(uint64_t{data.cold.size()});
  for (const ColdPair& pair : data.cold) {
    hash.add(pair.question);
    hash.add(uint64_t{pair.passage});
    hash.add(uint64_t{pair.text.has_value()});
    hash.add(pair.text.value_or(""));
  }
  return fmt::format("{:016x}", hash.value());
}

std::string normalized_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      if (!out.empty() && out.back() != ' ') {
        out.push_back(' ');
      }
    } else {
      out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
  }
  if (!out.empty() && out.back() == ' ') {
    out.pop_back();
  }
  return out;
}

}  // namespace sibyl::train
