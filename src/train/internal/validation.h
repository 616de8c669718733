#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "train/internal/dataset.h"
#include "train/internal/encode_all.h"
#include "train/internal/torch.h"

namespace sibyl::train {

/// Exact nDCG@10 of the held-out questions over all passages (or a few in a test run).
class Validation {
 public:
  /// `passages`: which ones to rank; every right answer must be among them.
  Validation(const Dataset& data, const std::vector<uint32_t>& passages,
             const std::vector<LabelledQuestion>& questions, const text::Tokenizer& tokenizer,
             const TokenizeRule& question_rule, const TokenizeRule& passage_rule);

  bool empty() const { return gold_.empty(); }
  size_t tokens() const { return passages_.tokens() + questions_.tokens(); }
  /// Mean nDCG@10; empty when `stop` was requested meanwhile.
  std::optional<double> run(Network& network, const MicroBatchLimits& limits,
                            const std::stop_token& stop) const;

 private:
  TokenTable passages_;
  TokenTable questions_;
  std::vector<std::vector<uint32_t>> gold_;  ///< by question, places in `passages_`
};

/// nDCG@10 of one question: equal scores rank by place, the lower first.
double ndcg_of_scores(std::span<const float> scores, const std::vector<uint32_t>& gold);

}  // namespace sibyl::train
