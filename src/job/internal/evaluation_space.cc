#include "job/internal/evaluation_space.h"

#include <utility>

#include "base/file_system.h"
#include "base/gzip.h"
#include "base/json.h"
#include "encoder/cpu_encoder.h"
#include "model/model_directory.h"

namespace sibyl::job::internal {
namespace {

constexpr size_t kBatchRows = 256;
constexpr size_t kBatchBytes = size_t{8} << 20;
constexpr uint64_t kLineBytesMax = uint64_t{64} << 20;

std::string without_version(const std::string& reference) {
  return reference.substr(0, reference.find('@'));
}

// Sends lines in batches of bounded size and stops at the first row that is refused.
class BatchAdder {
 public:
  BatchAdder(answer::AnswerService& service, std::string collection, const StepContext& context,
             const DocumentProgress& progress, uint64_t total)
      : service_(service),
        collection_(std::move(collection)),
        context_(context),
        progress_(progress),
        total_(total) {}

  Result<void> add(std::string_view line) {
    body_.append(line);
    body_.push_back('\n');
    ++rows_;
    return rows_ >= kBatchRows || body_.size() >= kBatchBytes ? flush() : Result<void>();
  }
  Result<void> flush() {
    if (rows_ == 0) {
      return {};
    }
    auto report = service_.add(collection_, body_, context_.stop);
    if (!report) {
      return pass_on(report);
    }
    if (!report->failed.empty()) {
      const answer::FailedRow& row = report->failed.front();
      return fail(row.error.code, "document '{}': {}", row.id, row.error.message);
    }
    done_ += rows_;
    rows_ = 0;
    body_.clear();
    progress_(done_, total_);
    return {};
  }

 private:
  answer::AnswerService& service_;
  const std::string collection_;
  const StepContext& context_;
  const DocumentProgress& progress_;
  const uint64_t total_;
  std::string body_;
  uint64_t rows_ = 0;
  uint64_t done_ = 0;
};

Result<uint64_t> count_lines(const std::string& path) {
  uint64_t lines = 0;
  auto done = base::for_each_line(path, kLineBytesMax, [&](const base::Line&) {
    ++lines;
    return true;
  });
  if (!done) {
    return pass_on(done);
  }
  return lines;
}

}  // namespace

Result<std::shared_ptr<encoder::Encoder>> FolderEncoders::find(const std::string& reference) {
  const std::string name = without_version(reference);
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(name); found != open_.end()) {
    return found->second;
  }
  const auto folder = folders_.find(name);
  if (folder == folders_.end()) {
    return fail(name.empty() ? Code::FailedPrecondition : Code::NotFound,
                "the evaluation has no model '{}'", reference);
  }
  auto model = model::read_model_directory(folder->second);
  if (!model) {
    return pass_on(model);
  }
  auto encoder = encoder::open_cpu_encoder(std::move(*model), name, {});
  if (encoder) {
    open_[name] = *encoder;
  }
  return encoder;
}

std::map<std::string, std::string> FolderEncoders::pipelines(const std::string& reference) {
  const auto folder = folders_.find(without_version(reference));
  if (folder == folders_.end()) {
    return {};
  }
  auto provenance = model::read_provenance(folder->second);
  return provenance ? provenance->pipelines : std::map<std::string, std::string>();
}

Result<std::unique_ptr<EvaluationSpace>> EvaluationSpace::open(const std::string& folder) {
  auto& files = base::real_file_system();
  if (files.exists(folder)) {
    if (auto removed = files.remove_tree(folder); !removed) {
      return pass_on(removed);
    }
  }
  if (auto made = files.create_directories(folder); !made) {
    return pass_on(made);
  }
  auto database = store::Database::open(folder, {});
  if (!database) {
    return pass_on(database);
  }
  auto space = std::make_unique<EvaluationSpace>();
  space->database_ = std::move(*database);
  space->service_ = answer::AnswerService::create(*space->database_, space->encoders_);
  return space;
}

Result<void> EvaluationSpace::fill(const std::string& name, const std::string& model,
                                   const std::string& documents_path, const StepContext& context,
                                   const DocumentProgress& progress) {
  base::Json settings = base::Json::object();
  if (!model.empty()) {
    settings["model"] = model;
  }
  if (auto created = service_->put_collection(name, settings, true); !created) {
    return pass_on(created);
  }
  const auto total = count_lines(documents_path);
  if (!total) {
    return tl::unexpected<Error>(total.error());
  }
  BatchAdder adder(*service_, name, context, progress, *total);
  Result<void> added;
  auto read = base::for_each_line(documents_path, kLineBytesMax, [&](const base::Line& line) {
    if (line.too_long) {
      added = fail(Code::TooLarge, "{} line {}: over {} bytes", documents_path, line.number,
                   kLineBytesMax);
    } else {
      added = adder.add(line.text);
    }
    return added.has_value();
  });
  if (!read || !added) {
    return read ? added : read;
  }
  return adder.flush();
}

Result<answer::EvaluationReport> EvaluationSpace::evaluate(
    const std::string& name, const std::vector<answer::JudgedQuestion>& questions,
    const answer::EvaluationOptions& options) {
  const answer::Asker ask = [&](const answer::QueryRequest& request) {
    return service_->query(name, request, options.stop);
  };
  return answer::evaluate(ask, questions, options);
}

Result<std::vector<answer::JudgedQuestion>> read_workspace_questions(const std::string& path) {
  std::vector<answer::JudgedQuestion> questions;
  Result<void> parsed;
  auto done = base::for_each_line(path, kLineBytesMax, [&](const base::Line& line) {
    const auto json = base::parse_json(line.text, fmt::format("{} line {}", path, line.number));
    if (!json) {
      parsed = tl::unexpected<Error>(json.error());
      return false;
    }
    base::JsonFields fields(*json, {}, Code::InvalidData);
    answer::JudgedQuestion question;
    question.id = fields.required_text("id");
    question.question = fields.required_text("question");
    question.gold = fields.texts("gold");
    parsed = fields.finish();
    questions.push_back(std::move(question));
    return parsed.has_value();
  });
  if (!done || !parsed) {
    return tl::unexpected<Error>(done ? parsed.error() : done.error());
  }
  return questions;
}

}  // namespace sibyl::job::internal
