#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "answer/evaluation.h"
#include "base/result.h"
#include "job/step.h"
#include "store/database.h"

namespace sibyl::job::internal {

/// Model folders under names of the step's own choosing. Thread-safe.
class FolderEncoders final : public answer::EncoderSource {
 public:
  void add(const std::string& name, const std::string& folder) { folders_[name] = folder; }
  Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) override;
  std::map<std::string, std::string> pipelines(const std::string& reference) override;

 private:
  std::map<std::string, std::string> folders_;  // filled before the first find
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<encoder::Encoder>> open_;
};

/// Documents done of all, for progress.
using DocumentProgress = std::function<void(uint64_t done, uint64_t total)>;

/// Collections of a workspace: the documents of data/documents.jsonl through a model each.
class EvaluationSpace {
 public:
  /// A fresh store in `folder`; what an earlier run left is removed.
  static Result<std::unique_ptr<EvaluationSpace>> open(const std::string& folder);

  FolderEncoders& encoders() { return encoders_; }
  /// A collection `name` with the model of the same name ("" : BM25 alone) and all documents.
  Result<void> fill(const std::string& name, const std::string& model,
                    const std::string& documents_path, const StepContext& context,
                    const DocumentProgress& progress);
  Result<answer::EvaluationReport> evaluate(const std::string& name,
                                            const std::vector<answer::JudgedQuestion>& questions,
                                            const answer::EvaluationOptions& options);

 private:
  FolderEncoders encoders_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<answer::AnswerService> service_;
};

/// The questions of data/questions.jsonl.
Result<std::vector<answer::JudgedQuestion>> read_workspace_questions(const std::string& path);

}  // namespace sibyl::job::internal
