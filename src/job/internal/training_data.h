#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answer/document.h"
#include "answer/evaluation.h"
#include "base/json.h"
#include "job/internal/passage_builder.h"
#include "job/internal/structural_pairs.h"
#include "job/job_file.h"
#include "job/step.h"

namespace sibyl::job::internal {

struct LabelledQuestion {
  std::string question;
  std::vector<uint32_t> passages;  ///< sorted, distinct
};

/// Everything that `prepare` finds in a job's inputs, before it is written.
struct TrainingData {
  std::vector<Passage> passages;
  std::vector<LabelledQuestion> pairs;
  std::vector<ColdPair> cold;
  std::vector<LabelledQuestion> valid;
  std::vector<answer::Document> evaluation_documents;
  std::vector<answer::JudgedQuestion> evaluation_questions;
  std::string questions_from;  ///< "evaluate.questions" or "held-out training data"
  std::vector<std::string> notes;
  base::Json statistics = base::Json::object();
};

struct BuildOptions {
  bool transformer = true;
  uint64_t seed = 1;
  bool labels = true;  ///< the stage is trained
  bool cold = false;
};

/// Reads, checks, cleans and splits. Deterministic by seed.
Result<TrainingData> build_training_data(const JobFile& job, const BuildOptions& options,
                                         const StepContext& context);

/// How many of `count` questions are held out for choosing the best epoch: a tenth, at least 50 and
/// at most 1,100, but never more than a fifth.
uint64_t validation_count(uint64_t count);

/// A question for comparing: lower-case ASCII, runs of white space as one blank, no end mark.
std::string normalized_question(std::string_view question);

}  // namespace sibyl::job::internal
