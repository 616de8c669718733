#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "rank/blend.h"

namespace sibyl::rank::internal {

/// Weights that are tried: fine where rankings change, coarse where one feature already rules.
inline constexpr std::array<double, 18> kWeightGrid = {0,   0.1, 0.2, 0.3, 0.5, 0.75, 1,  1.5, 2,
                                                       2.5, 3,   4,   5,   6,   8,    10, 15,  20};

/// Coordinate search over kWeightGrid for the weights with the best mean nDCG@10. Questions are
/// packed once: candidates that can never stand before a gold one under weights >= 0 are dropped,
/// which leaves the metric as it is. What a point of the grid scores is remembered a question, so
/// that the folds of a cross-fit share the work. Not thread-safe.
class BlendSearch {
 public:
  BlendSearch(std::span<const BlendQuestion> questions, size_t features, size_t rounds);
  /// Best weights on the questions with use[i] != 0; scaled so that the last weight that is not
  /// zero is 1.
  std::vector<double> best_weights(std::span<const uint8_t> use);

 private:
  using Point = std::vector<uint8_t>;  ///< index into kWeightGrid, one a feature
  struct Packed {
    std::vector<float> gold;  ///< [golds found x features]
    std::vector<uint64_t> gold_ties;
    std::vector<float> others;  ///< [others x features]
    std::vector<uint64_t> other_ties;
    double ideal = 1;
  };

  const std::vector<float>& values(const Point& point);
  double value_of(const Packed& question, std::span<const double> weights) const;
  double mean_value(const Point& point, std::span<const uint8_t> use);
  std::vector<Point> starts() const;
  double climb(Point& point, std::span<const uint8_t> use);

  std::vector<Packed> packed_;
  size_t features_;
  size_t rounds_;
  std::map<Point, std::vector<float>> known_;
};

}  // namespace sibyl::rank::internal
