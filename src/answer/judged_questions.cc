#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "answer/evaluation.h"
#include "base/csv.h"
#include "base/gzip.h"
#include "base/json.h"

namespace sibyl::answer {
namespace {

constexpr uint64_t kRowBytesMax = uint64_t{32} << 20;

/// A row of a questions file, whatever its form: field -> text.
using Fields = std::map<std::string, std::string, std::less<>>;
using OnRow = std::function<Result<void>(uint64_t line, const Fields& fields)>;

bool is_csv(std::string_view path) {
  if (path.ends_with(".gz")) {
    path.remove_suffix(3);
  }
  return path.ends_with(".csv") || path.ends_with(".tsv");
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

tl::unexpected<Error> wrong_line(const std::string& path, uint64_t line, const Error& error) {
  return tl::unexpected<Error>(Error{
      Code::InvalidData, fmt::format("{} line {}: {}", path, line, error.message), error.field});
}

Result<Fields> fields_of_json(std::string_view text) {
  auto json = base::parse_json(text, "question");
  if (!json) {
    return pass_on(json);
  }
  if (!json->is_object()) {
    return fail(Code::InvalidData, "is no JSON object");
  }
  Fields fields;
  for (const auto& [key, value] : json->items()) {
    if (value.is_string()) {
      fields[key] = value.get<std::string>();
    } else if (value.is_number_integer()) {
      fields[key] = base::dump_json(value);
    }
  }
  return fields;
}

Result<void> read_csv_rows(const std::string& path, const OnRow& on_row) {
  std::vector<std::string> header;
  Result<void> outcome;
  const bool tabs = path.ends_with(".tsv") || path.ends_with(".tsv.gz");
  auto done = base::for_each_csv_record(
      path, tabs ? '\t' : ',', kRowBytesMax, [&](base::CsvRecord&& record) {
        if (!record.error.empty()) {
          outcome = wrong_line(path, record.line, {Code::InvalidData, record.error, {}});
          return false;
        }
        if (header.empty()) {
          for (const std::string& name : record.fields) {
            header.emplace_back(trimmed(name));
          }
          return true;
        }
        if (record.fields.size() != header.size()) {
          outcome = wrong_line(
              path, record.line,
              {Code::InvalidData,
               fmt::format("has {} fields, the header has {}", record.fields.size(), header.size()),
               {}});
          return false;
        }
        Fields fields;
        for (size_t i = 0; i < header.size(); ++i) {
          fields[header[i]] = std::move(record.fields[i]);
        }
        if (auto taken = on_row(record.line, fields); !taken) {
          outcome = wrong_line(path, record.line, taken.error());
          return false;
        }
        return true;
      });
  return done ? outcome : done;
}

Result<void> read_json_rows(const std::string& path, const OnRow& on_row) {
  Result<void> outcome;
  auto done = base::for_each_line(path, kRowBytesMax, [&](const base::Line& line) {
    std::string_view text = line.text;
    if (line.number == 1 && text.starts_with("\xEF\xBB\xBF")) {
      text.remove_prefix(3);
    }
    if (!line.too_long && trimmed(text).empty()) {
      return true;
    }
    auto fields =
        line.too_long
            ? Result<Fields>(fail(Code::InvalidData, "is longer than {} bytes", kRowBytesMax))
            : fields_of_json(text);
    auto taken = fields ? on_row(line.number, *fields) : Result<void>(pass_on(fields));
    if (!taken) {
      outcome = wrong_line(path, line.number, taken.error());
    }
    return outcome.has_value();
  });
  return done ? outcome : done;
}

Result<void> read_rows(const std::string& path, const OnRow& on_row) {
  return is_csv(path) ? read_csv_rows(path, on_row) : read_json_rows(path, on_row);
}

std::string first_of(const Fields& fields, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = fields.find(name); found != fields.end()) {
      if (const std::string_view value = trimmed(found->second); !value.empty()) {
        return std::string(value);
      }
    }
  }
  return {};
}

/// Questions in the order of the file, found by their text or id.
class QuestionSet {
 public:
  JudgedQuestion& of(const std::string& key) {
    const auto [place, is_new] = places_.emplace(key, questions_.size());
    if (is_new) {
      questions_.emplace_back();
    }
    return questions_[place->second];
  }
  JudgedQuestion* find(const std::string& key) {
    const auto place = places_.find(key);
    return place == places_.end() ? nullptr : &questions_[place->second];
  }
  std::vector<JudgedQuestion> take() { return std::move(questions_); }

 private:
  std::vector<JudgedQuestion> questions_;
  std::unordered_map<std::string, size_t> places_;
};

void add_once(std::vector<std::string>& list, std::string value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) {
    list.push_back(std::move(value));
  }
}

/// Pairs: several rows of one question's text are its several answers.
Result<std::vector<JudgedQuestion>> read_pairs(const std::string& path) {
  QuestionSet questions;
  auto done = read_rows(path, [&](uint64_t line, const Fields& fields) -> Result<void> {
    const std::string text = first_of(fields, {"question"});
    const std::string id = first_of(fields, {"answer_id"});
    const std::string answer = first_of(fields, {"answer"});
    if (text.empty()) {
      return fail_field(Code::InvalidData, "question", "question: is missing or empty");
    }
    if (id.empty() && answer.empty()) {
      return fail_field(
          Code::InvalidData, "answer_id",
          "answer_id: is missing, and so is answer; one of them is needed, or a qrels "
          "file");
    }
    JudgedQuestion& question = questions.of(text);
    if (question.id.empty()) {
      question.question = text;
      const std::string own = first_of(fields, {"id", "_id"});
      question.id = own.empty() ? fmt::format("line {}", line) : own;
    }
    id.empty() ? add_once(question.gold_texts, answer) : add_once(question.gold, id);
    return {};
  });
  if (!done) {
    return pass_on(done);
  }
  return questions.take();
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      return words;
    }
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// TREC (`question 0 document grade`) or BEIR (`question document grade` after a header).
Result<void> take_judgement(const base::Line& line, QuestionSet& questions) {
  const std::vector<std::string_view> words = words_of(line.text);
  if (words.empty() || (line.number == 1 && words[0].starts_with("query"))) {
    return {};
  }
  if (line.too_long || (words.size() != 3 && words.size() != 4)) {
    return fail(Code::InvalidData,
                "has {} fields; 'question document grade' (BEIR) or 'question 0 document grade' "
                "(TREC) is right",
                words.size());
  }
  const std::string_view grade = words.back();
  const size_t digits = grade.find_first_not_of('-');
  if (digits == std::string_view::npos ||
      grade.find_first_not_of("0123456789.", digits) != std::string_view::npos) {
    return fail(Code::InvalidData, "grade: '{}' is no number", grade);
  }
  const std::string id(words[0]);
  JudgedQuestion* question = questions.find(id);
  if (question == nullptr) {
    return fail(Code::InvalidData, "question '{}' is not in the questions file", id);
  }
  const bool is_gold =
      grade.front() != '-' && grade.find_first_of("123456789") != std::string_view::npos;
  if (is_gold) {
    add_once(question->gold, std::string(words[words.size() - 2]));
  }
  return {};
}

Result<std::vector<JudgedQuestion>> read_with_qrels(const std::string& questions_path,
                                                    const std::string& qrels_path) {
  QuestionSet questions;
  auto done = read_rows(questions_path, [&](uint64_t, const Fields& fields) -> Result<void> {
    const std::string id = first_of(fields, {"_id", "id"});
    const std::string text = first_of(fields, {"text", "question"});
    if (id.empty() || text.empty()) {
      const std::string_view missing = id.empty() ? "id" : "text";
      return fail_field(Code::InvalidData, std::string(missing), "{}: is missing or empty",
                        missing);
    }
    JudgedQuestion& question = questions.of(id);
    if (!question.id.empty()) {
      return fail_field(Code::InvalidData, "id", "id: '{}' stands there twice", id);
    }
    question.id = id;
    question.question = text;
    return {};
  });
  if (!done) {
    return pass_on(done);
  }
  Result<void> outcome;
  auto judged = base::for_each_line(qrels_path, kRowBytesMax, [&](const base::Line& line) {
    if (auto taken = take_judgement(line, questions); !taken) {
      outcome = wrong_line(qrels_path, line.number, taken.error());
    }
    return outcome.has_value();
  });
  if (!judged || !outcome) {
    return pass_on(judged ? outcome : judged);
  }
  std::vector<JudgedQuestion> result = questions.take();
  std::erase_if(result, [](const JudgedQuestion& question) { return question.gold.empty(); });
  return result;
}

}  // namespace

Result<std::vector<JudgedQuestion>> read_judged_questions(const std::string& questions_path,
                                                          const std::string& qrels_path) {
  auto questions =
      qrels_path.empty() ? read_pairs(questions_path) : read_with_qrels(questions_path, qrels_path);
  if (questions && questions->empty()) {
    return fail(Code::InvalidData, "{} holds no judged question", questions_path);
  }
  return questions;
}

}  // namespace sibyl::answer
