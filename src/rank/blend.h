#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rank/metrics.h"

namespace sibyl::rank {

/// One candidate document of a question with every feature's score, in the order of feature names.
struct BlendCandidate {
  std::vector<float> features;
  bool gold = false;
  uint64_t tie = 0;  ///< lower first among equal scores
};
struct BlendQuestion {
  std::vector<BlendCandidate> candidates;  ///< union over the retrievals
  size_t gold = 0;                         ///< gold documents that exist, found or not
};

struct BlendFit {
  std::vector<double> weights;        ///< one a feature; the first non-zero scale is conventional
  Metrics fitted;                     ///< means on the questions that the weights were fitted on
  std::vector<Metrics> per_question;  ///< of the fitted weights
  Metrics cross_fitted;               ///< means, each fold scored by weights fitted on the others
  std::vector<Metrics> cross_per_question;
};

struct BlendFitOptions {
  size_t folds = 5;
  uint64_t seed = 1;
  size_t rounds = 4;  ///< of coordinate search over a grid, from several starts
};

/// Weights >= 0 that maximise mean nDCG@10, by coordinate search; deterministic by seed.
Result<BlendFit> fit_blend(std::span<const BlendQuestion> questions, size_t features,
                           const BlendFitOptions& options);
/// Metrics of each question under given weights.
std::vector<Metrics> score_blend(std::span<const BlendQuestion> questions,
                                 std::span<const double> weights);

}  // namespace sibyl::rank
