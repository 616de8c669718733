#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sibyl::rank {

/// Binary-relevance ranking metrics of one question, as trec_eval computes them; in [0, 1].
struct Metrics {
  double precision_at_1 = 0;
  double mrr_at_10 = 0;
  double ndcg_at_10 = 0;  ///< ideal over min(10, number of gold)
  double recall_at_10 = 0;
  double recall_at_100 = 0;
  double map_at_100 = 0;
};
inline constexpr std::array<std::string_view, 6> kMetricNames = {"P@1",  "MRR@10", "nDCG@10",
                                                                 "R@10", "R@100",  "MAP@100"};
/// In the order of kMetricNames.
std::array<double, 6> metric_values(const Metrics& metrics);

/// `hits[i]`: whether the i-th best document is gold; `gold`: how many gold documents there are. No
/// gold gives zeros.
Metrics score_ranking(std::span<const uint8_t> hits, size_t gold);

/// Metric by metric; zeros for no questions.
Metrics mean_metrics(std::span<const Metrics> questions);

/// Mean with a 95 % percentile-bootstrap interval over questions; seeded, the same every time.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
};
std::array<Estimate, 6> estimate(std::span<const Metrics> questions, size_t resamples = 1000,
                                 uint64_t seed = 1);
/// Of mean(a) - mean(b) over the same questions, of one metric.
Estimate paired_difference(std::span<const double> a, std::span<const double> b,
                           size_t resamples = 1000, uint64_t seed = 1);

}  // namespace sibyl::rank
