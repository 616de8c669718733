#include "answer/internal/weight_fit.h"

#include <fmt/format.h>

#include "answer/internal/gold_answers.h"
#include "rank/blend.h"

namespace sibyl::answer::internal {
namespace {

/// Candidates that a fit looks at: twice what each retrieval gives by default.
constexpr size_t kFitCandidates = 400;

}  // namespace

Result<FeatureTable> collect_features(const Asker& ask,
                                      const std::vector<JudgedQuestion>& questions,
                                      std::stop_token stop) {
  FeatureTable table;
  QueryRequest request;
  request.top = kFitCandidates;
  // All retrievals with the weights that are there before any fit, so that a fit does not depend on
  // an earlier one.
  request.pipeline = default_pipelines().at("blend");
  request.explain = true;
  request.spans = false;
  for (const JudgedQuestion& judged : questions) {
    if (stop.stop_requested()) {
      return fail(Code::Interrupted, "the evaluation was stopped");
    }
    request.question = judged.question;
    auto reply = ask(request);
    if (!reply) {
      return pass_on(reply, fmt::format("question '{}'", judged.id));
    }
    const GoldAnswers gold(judged);
    const std::vector<uint8_t> hits = hits_of(reply->answers, gold);
    FeatureTable::Question question;
    question.gold = gold.count();
    for (size_t i = 0; i < reply->answers.size(); ++i) {
      FeatureTable::Candidate candidate;
      candidate.gold = hits[i] != 0;
      for (size_t r = 0; r < kRetrievals; ++r) {
        candidate.features[r] = reply->answers[i].retrievals[r].score;
      }
      question.candidates.push_back(candidate);
    }
    table.questions.push_back(std::move(question));
  }
  return table;
}

Result<FittedPipeline> fit_pipeline(const std::string& name, const FeatureTable& table,
                                    const std::vector<Retrieval>& retrievals, uint64_t seed) {
  std::vector<rank::BlendQuestion> questions;
  for (const FeatureTable::Question& from : table.questions) {
    rank::BlendQuestion question;
    question.gold = from.gold;
    for (const FeatureTable::Candidate& candidate : from.candidates) {
      rank::BlendCandidate to;
      for (const Retrieval retrieval : retrievals) {
        to.features.push_back(candidate.features[static_cast<size_t>(retrieval)]);
      }
      to.gold = candidate.gold;
      to.tie = question.candidates.size();
      question.candidates.push_back(std::move(to));
    }
    questions.push_back(std::move(question));
  }
  rank::BlendFitOptions options;
  options.seed = seed;
  auto fit = rank::fit_blend(questions, retrievals.size(), options);
  if (!fit) {
    return pass_on(fit);
  }
  FittedPipeline result;
  result.expression = weights_to_expression(fit->weights, retrievals);
  result.fitted = {name + " (fitted)", result.expression,
                   rank::estimate(fit->per_question, 1000, seed), fit->per_question};
  result.cross_fitted = {name, result.expression,
                         rank::estimate(fit->cross_per_question, 1000, seed),
                         fit->cross_per_question};
  return result;
}

std::string weights_to_expression(const std::vector<double>& weights,
                                  const std::vector<Retrieval>& retrievals) {
  std::string out;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0) {
      out += fmt::format("{}{:.4g}*{}", out.empty() ? "" : " + ", weights[i],
                         kRetrievalNames[static_cast<size_t>(retrievals[i])]);
    }
  }
  return out;
}

}  // namespace sibyl::answer::internal
