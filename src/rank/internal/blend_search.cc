#include "rank/internal/blend_search.h"

#include <algorithm>
#include <cmath>

namespace sibyl::rank::internal {
namespace {

constexpr uint8_t kOne = 6;    // kWeightGrid[kOne] == 1
constexpr uint8_t kFour = 11;  // kWeightGrid[kFour] == 4
static_assert(kWeightGrid[kOne] == 1 && kWeightGrid[kFour] == 4);

/// Whether `other` stands behind `gold` under all weights >= 0 that are not all zero.
bool always_behind(const BlendCandidate& other, const BlendCandidate& gold) {
  bool all_less = true;
  bool none_more = true;
  for (size_t f = 0; f < gold.features.size(); ++f) {
    all_less = all_less && other.features[f] < gold.features[f];
    none_more = none_more && other.features[f] <= gold.features[f];
  }
  return all_less || (none_more && other.tie > gold.tie);
}

double dot(const float* features, std::span<const double> weights) {
  double score = 0;
  for (size_t f = 0; f < weights.size(); ++f) {
    score += weights[f] * static_cast<double>(features[f]);
  }
  return score;
}

}  // namespace

BlendSearch::BlendSearch(std::span<const BlendQuestion> questions, size_t features, size_t rounds)
    : features_(features), rounds_(rounds) {
  packed_.reserve(questions.size());
  for (const BlendQuestion& question : questions) {
    Packed packed;
    std::vector<const BlendCandidate*> golds;
    for (const BlendCandidate& candidate : question.candidates) {
      if (candidate.gold) {
        golds.push_back(&candidate);
        packed.gold.insert(packed.gold.end(), candidate.features.begin(), candidate.features.end());
        packed.gold_ties.push_back(candidate.tie);
      }
    }
    for (const BlendCandidate& candidate : question.candidates) {
      const bool behind = std::all_of(golds.begin(), golds.end(), [&](const BlendCandidate* gold) {
        return always_behind(candidate, *gold);
      });
      if (!candidate.gold && !behind) {
        packed.others.insert(packed.others.end(), candidate.features.begin(),
                             candidate.features.end());
        packed.other_ties.push_back(candidate.tie);
      }
    }
    packed.ideal = 0;
    for (size_t i = 0; i < std::min<size_t>(question.gold, 10); ++i) {
      packed.ideal += 1.0 / std::log2(static_cast<double>(i) + 2.0);
    }
    packed_.push_back(std::move(packed));
  }
}

double BlendSearch::value_of(const Packed& question, std::span<const double> weights) const {
  const size_t golds = question.gold_ties.size();
  if (golds == 0 || question.ideal <= 0) {
    return 0;
  }
  std::vector<std::pair<double, uint64_t>> best(golds);  // (-score, tie): ascending is best first
  for (size_t g = 0; g < golds; ++g) {
    best[g] = {-dot(&question.gold[g * features_], weights), question.gold_ties[g]};
  }
  std::sort(best.begin(), best.end());
  std::vector<uint32_t> before(golds, 0);  // others that stand before each gold
  for (size_t i = 0; i < question.other_ties.size(); ++i) {
    const std::pair<double, uint64_t> other{-dot(&question.others[i * features_], weights),
                                            question.other_ties[i]};
    const auto first_behind = std::upper_bound(best.begin(), best.end(), other);
    if (first_behind != best.end()) {
      ++before[static_cast<size_t>(first_behind - best.begin())];
    }
  }
  double gain = 0;
  size_t place = 0;
  for (size_t g = 0; g < golds; ++g) {
    place += before[g];
    if (place + g < 10) {
      gain += 1.0 / std::log2(static_cast<double>(place + g) + 2.0);
    }
  }
  return gain / question.ideal;
}

const std::vector<float>& BlendSearch::values(const Point& point) {
  const auto [it, is_new] = known_.try_emplace(point);
  if (is_new) {
    std::vector<double> weights(features_);
    for (size_t f = 0; f < features_; ++f) {
      weights[f] = kWeightGrid[point[f]];
    }
    it->second.reserve(packed_.size());
    for (const Packed& question : packed_) {
      it->second.push_back(static_cast<float>(value_of(question, weights)));
    }
  }
  return it->second;
}

double BlendSearch::mean_value(const Point& point, std::span<const uint8_t> use) {
  if (std::all_of(point.begin(), point.end(), [](uint8_t weight) { return weight == 0; })) {
    return -1;  // All candidates alike is no ranking.
  }
  const std::vector<float>& all = values(point);
  double sum = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    sum += use[i] != 0 ? static_cast<double>(all[i]) : 0;
  }
  return sum;
}

std::vector<BlendSearch::Point> BlendSearch::starts() const {
  std::vector<Point> result;
  result.emplace_back(features_, kOne);
  for (size_t f = 0; f < features_ && features_ > 1; ++f) {
    Point strong(features_, kOne);
    strong[f] = kFour;
    result.push_back(strong);
    Point alone(features_, 0);
    alone[f] = kOne;
    result.push_back(alone);
  }
  return result;
}

double BlendSearch::climb(Point& point, std::span<const uint8_t> use) {
  constexpr double kBetter = 1e-9;
  double best = mean_value(point, use);
  for (size_t round = 0; round < rounds_; ++round) {
    const Point before = point;
    for (size_t f = 0; f < features_; ++f) {
      Point tried = point;
      for (uint8_t weight = 0; weight < kWeightGrid.size(); ++weight) {
        tried[f] = weight;
        const double value = mean_value(tried, use);
        if (value > best + kBetter) {
          best = value;
          point[f] = weight;
        }
      }
    }
    if (point == before) {
      break;
    }
  }
  return best;
}

std::vector<double> BlendSearch::best_weights(std::span<const uint8_t> use) {
  Point best_point(features_, kOne);
  double best = -1;
  for (Point point : starts()) {
    const double value = climb(point, use);
    if (value > best + 1e-9) {
      best = value;
      best_point = point;
    }
  }
  std::vector<double> weights(features_);
  double scale = 1;
  for (size_t f = 0; f < features_; ++f) {
    weights[f] = kWeightGrid[best_point[f]];
    scale = weights[f] > 0 ? weights[f] : scale;
  }
  for (double& weight : weights) {
    weight /= scale;
  }
  return weights;
}

}  // namespace sibyl::rank::internal
