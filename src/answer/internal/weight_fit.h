#pragma once

#include <string>
#include <vector>

#include "answer/evaluation.h"
#include "answer/pipeline.h"
#include "base/result.h"

namespace sibyl::answer::internal {

/// Candidates of each question with every retrieval's score, as the live pipeline gives them.
struct FeatureTable {
  struct Candidate {
    std::array<float, kRetrievals> features{};
    bool gold = false;
  };
  struct Question {
    std::vector<Candidate> candidates;
    size_t gold = 0;
  };
  std::vector<Question> questions;
};
Result<FeatureTable> collect_features(const Asker& ask,
                                      const std::vector<JudgedQuestion>& questions,
                                      std::stop_token stop);

/// Fits the weights of some retrievals: the expression, and its reports fitted and cross-fitted.
struct FittedPipeline {
  std::string expression;
  PipelineReport fitted;
  PipelineReport cross_fitted;
};
Result<FittedPipeline> fit_pipeline(const std::string& name, const FeatureTable& table,
                                    const std::vector<Retrieval>& retrievals, uint64_t seed);

/// `4*document + 1.5*headings + bm25`-like text of weights; zeros are left out.
std::string weights_to_expression(const std::vector<double>& weights,
                                  const std::vector<Retrieval>& retrievals);

}  // namespace sibyl::answer::internal
