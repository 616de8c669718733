#pragma once

#include <array>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "base/result.h"
#include "rank/metrics.h"

namespace sibyl::answer {

struct JudgedQuestion {
  std::string id;
  std::string question;
  std::vector<std::string> gold;  ///< document ids
  /// Texts of right answers that were given without an id. An answer is right when its passage is
  /// such a text, or a part of 200 bytes or more of one (white space aside).
  std::vector<std::string> gold_texts;
};
/// Pairs (question + answer_id or answer), or questions {"_id"|"id","text"|"question"} with
/// TREC/BEIR qrels; JSONL or CSV, gzip too. Several answers of one question text are merged. Wrong
/// lines are named by file and line.
Result<std::vector<JudgedQuestion>> read_judged_questions(const std::string& questions_path,
                                                          const std::string& qrels_path);

struct PipelineReport {
  std::string pipeline;
  std::string blend;
  std::array<rank::Estimate, 6> metrics;  ///< order of rank::kMetricNames
  std::vector<rank::Metrics> per_question;
};
struct EvaluationOptions {
  std::vector<std::string>
      pipelines;             ///< names or expressions; empty: every one that has a meaning
  bool fit_weights = false;  ///< for "document+bm25" and "blend", cross-fitted beside
  uint64_t seed = 1;
  std::stop_token stop;
};
struct EvaluationReport {
  uint64_t questions = 0;
  std::vector<PipelineReport> pipelines;
  std::map<std::string, std::string> fitted;  ///< pipeline -> expression with fitted weights
  std::vector<PipelineReport> cross_fitted;   ///< what the fit gives on questions it did not see
};
/// How a question is asked: in process, or over a socket (server::QueryClient).
using Asker = std::function<Result<QueryReply>(const QueryRequest&)>;

/// Asks every question through `ask`, with `explain` for the features that the fit needs.
Result<EvaluationReport> evaluate(const Asker& ask, const std::vector<JudgedQuestion>& questions,
                                  const EvaluationOptions& options);
/// As JSON, and as a table for people.
std::string evaluation_to_json(const EvaluationReport& report);
std::string evaluation_to_table(const EvaluationReport& report);

}  // namespace sibyl::answer
