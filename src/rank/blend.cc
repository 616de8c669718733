#include "rank/blend.h"

#include <algorithm>

#include "base/random.h"
#include "rank/internal/blend_search.h"

namespace sibyl::rank {
namespace {

double blend_score(const BlendCandidate& candidate, std::span<const double> weights) {
  double score = 0;
  for (size_t f = 0; f < weights.size(); ++f) {
    score += weights[f] * static_cast<double>(candidate.features[f]);
  }
  return score;
}

struct Place {
  double score = 0;
  uint64_t tie = 0;
  bool gold = false;
};

/// Folds of nearly equal size by a seeded shuffle: folds[i] is the fold of question i.
std::vector<uint32_t> split_folds(size_t questions, size_t folds, uint64_t seed) {
  std::vector<uint32_t> result(questions);
  for (size_t i = 0; i < questions; ++i) {
    result[i] = static_cast<uint32_t>(i % folds);
  }
  base::Random random(seed);
  random.shuffle(result);
  return result;
}

Result<void> check_shape(std::span<const BlendQuestion> questions, size_t features) {
  if (questions.empty() || features == 0) {
    return fail(Code::InvalidArgument,
                "weights cannot be fitted on {} questions with {} features; both must be 1 or more",
                questions.size(), features);
  }
  for (size_t i = 0; i < questions.size(); ++i) {
    for (const BlendCandidate& candidate : questions[i].candidates) {
      if (candidate.features.size() != features) {
        return fail(Code::InvalidArgument, "question {} has a candidate with {} features, not {}",
                    i + 1, candidate.features.size(), features);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<Metrics> score_blend(std::span<const BlendQuestion> questions,
                                 std::span<const double> weights) {
  std::vector<Metrics> result;
  result.reserve(questions.size());
  std::vector<Place> places;
  std::vector<uint8_t> hits;
  for (const BlendQuestion& question : questions) {
    places.clear();
    for (const BlendCandidate& candidate : question.candidates) {
      places.push_back({blend_score(candidate, weights), candidate.tie, candidate.gold});
    }
    const size_t kept = std::min<size_t>(places.size(), 100);
    std::partial_sort(places.begin(), places.begin() + static_cast<ptrdiff_t>(kept), places.end(),
                      [](const Place& a, const Place& b) {
                        return a.score != b.score ? a.score > b.score : a.tie < b.tie;
                      });
    hits.clear();
    for (size_t i = 0; i < kept; ++i) {
      hits.push_back(places[i].gold ? 1 : 0);
    }
    result.push_back(score_ranking(hits, question.gold));
  }
  return result;
}

Result<BlendFit> fit_blend(std::span<const BlendQuestion> questions, size_t features,
                           const BlendFitOptions& options) {
  if (auto shape = check_shape(questions, features); !shape) {
    return pass_on(shape);
  }
  internal::BlendSearch search(questions, features, options.rounds);
  BlendFit fit;
  fit.weights = search.best_weights(std::vector<uint8_t>(questions.size(), 1));
  fit.per_question = score_blend(questions, fit.weights);
  fit.fitted = mean_metrics(fit.per_question);

  const size_t folds = std::min(std::max<size_t>(options.folds, 2), questions.size());
  if (folds < 2) {  // One question has no other to be fitted on.
    fit.cross_per_question = score_blend(questions, std::vector<double>(features, 1));
    fit.cross_fitted = mean_metrics(fit.cross_per_question);
    return fit;
  }
  const std::vector<uint32_t> fold_of = split_folds(questions.size(), folds, options.seed);
  fit.cross_per_question.resize(questions.size());
  for (size_t fold = 0; fold < folds; ++fold) {
    std::vector<uint8_t> fitted_on(questions.size());
    for (size_t i = 0; i < questions.size(); ++i) {
      fitted_on[i] = fold_of[i] == fold ? 0 : 1;
    }
    const std::vector<double> weights = search.best_weights(fitted_on);
    for (size_t i = 0; i < questions.size(); ++i) {
      if (fitted_on[i] == 0) {
        fit.cross_per_question[i] = score_blend(questions.subspan(i, 1), weights).front();
      }
    }
  }
  fit.cross_fitted = mean_metrics(fit.cross_per_question);
  return fit;
}

}  // namespace sibyl::rank
