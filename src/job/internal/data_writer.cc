#include "job/internal/data_writer.h"

#include <functional>
#include <memory>
#include <utility>

#include "base/file_system.h"
#include "base/json_writer.h"
#include "net/sha256.h"

namespace sibyl::job::internal {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

// Lines into a file, synced at the end.
class LineFile {
 public:
  explicit LineFile(std::unique_ptr<base::WritableFile> file) : file_(std::move(file)) {}

  Result<void> add(std::string_view line) {
    buffer_.append(line);
    buffer_.push_back('\n');
    return buffer_.size() < kBufferBytes ? Result<void>() : flush();
  }
  Result<void> finish() {
    if (auto done = flush(); !done) {
      return done;
    }
    if (auto done = file_->sync(); !done) {
      return done;
    }
    return file_->close();
  }

 private:
  Result<void> flush() {
    auto done = file_->append(buffer_);
    buffer_.clear();
    return done;
  }

  std::unique_ptr<base::WritableFile> file_;
  std::string buffer_;
};

// `count` lines, each made by `line(i)`.
Result<void> write_lines(const std::string& path, size_t count,
                         const std::function<std::string(size_t)>& line) {
  auto file = base::real_file_system().create(path);
  if (!file) {
    return pass_on(file);
  }
  LineFile lines(std::move(*file));
  for (size_t i = 0; i < count; ++i) {
    if (auto done = lines.add(line(i)); !done) {
      return done;
    }
  }
  return lines.finish();
}

std::string question_line(const LabelledQuestion& question) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("question").text(question.question).key("passages").begin_array();
  for (const uint32_t passage : question.passages) {
    json.integer(passage);
  }
  json.end_array().end_object();
  return out;
}

std::string passage_line(const Passage& passage) {
  std::string out;
  base::JsonWriter(out)
      .begin_object()
      .key("id")
      .text(passage.id)
      .key("text")
      .text(passage.text)
      .key("heading")
      .text(passage.heading)
      .end_object();
  return out;
}

std::string cold_line(const ColdPair& pair) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("question").text(pair.question).key("passage").integer(pair.passage);
  if (pair.text) {
    json.key("text").text(*pair.text);
  }
  json.end_object();
  return out;
}

std::string judged_line(const answer::JudgedQuestion& question) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("id").text(question.id).key("question").text(question.question);
  json.key("gold").begin_array();
  for (const std::string& gold : question.gold) {
    json.text(gold);
  }
  json.end_array().end_object();
  return out;
}

}  // namespace

Result<void> write_training_data(const TrainingData& data, const Workspace& workspace) {
  struct Part {
    const char* name;
    size_t count;
    std::function<std::string(size_t)> line;
  };
  const Part parts[] = {
      {"data/passages.jsonl", data.passages.size(),
       [&](size_t i) { return passage_line(data.passages[i]); }},
      {"data/pairs.jsonl", data.pairs.size(),
       [&](size_t i) { return question_line(data.pairs[i]); }},
      {"data/cold.jsonl", data.cold.size(), [&](size_t i) { return cold_line(data.cold[i]); }},
      {"data/valid.jsonl", data.valid.size(),
       [&](size_t i) { return question_line(data.valid[i]); }},
      {"data/documents.jsonl", data.evaluation_documents.size(),
       [&](size_t i) { return answer::document_to_json(data.evaluation_documents[i]); }},
      {"data/questions.jsonl", data.evaluation_questions.size(),
       [&](size_t i) { return judged_line(data.evaluation_questions[i]); }},
  };
  base::Json statistics = data.statistics;
  for (const Part& part : parts) {
    const std::string path = workspace.file(part.name);
    if (auto done = write_lines(path, part.count, part.line); !done) {
      return done;
    }
    auto hash = net::sha256_file(path);
    if (!hash) {
      return pass_on(hash);
    }
    statistics["sha256"][part.name] = *hash;
  }
  return base::replace_file(workspace.file("data/statistics.json"),
                            base::dump_json(statistics, 2) + "\n");
}

}  // namespace sibyl::job::internal
