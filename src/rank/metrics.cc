#include "rank/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "base/random.h"

namespace sibyl::rank {
namespace {

double discount(size_t position) {
  return 1.0 / std::log2(static_cast<double>(position) + 2.0);
}

/// Means of resampled questions by the percentile method; `mean_of` averages the given indices.
Estimate percentile_interval(size_t questions, size_t resamples, uint64_t seed, double mean,
                             const std::function<double(std::span<const uint32_t>)>& mean_of) {
  Estimate result{mean, mean, mean};
  if (questions == 0 || resamples == 0) {
    return result;
  }
  base::Random random(seed);
  std::vector<uint32_t> drawn(questions);
  std::vector<double> means(resamples);
  for (double& value : means) {
    for (uint32_t& index : drawn) {
      index = static_cast<uint32_t>(random.below(questions));
    }
    value = mean_of(drawn);
  }
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(resamples - 1);
    return means[static_cast<size_t>(std::llround(place))];
  };
  result.low = at(0.025);
  result.high = at(0.975);
  return result;
}

}  // namespace

std::array<double, 6> metric_values(const Metrics& metrics) {
  return {metrics.precision_at_1, metrics.mrr_at_10,     metrics.ndcg_at_10,
          metrics.recall_at_10,   metrics.recall_at_100, metrics.map_at_100};
}

Metrics score_ranking(std::span<const uint8_t> hits, size_t gold) {
  Metrics metrics;
  if (gold == 0) {
    return metrics;
  }
  double gain = 0;
  double precision_sum = 0;
  size_t found = 0;
  for (size_t i = 0; i < std::min<size_t>(hits.size(), 100); ++i) {
    if (hits[i] == 0) {
      continue;
    }
    if (++found == 1 && i < 10) {
      metrics.mrr_at_10 = 1.0 / static_cast<double>(i + 1);
    }
    if (i < 10) {
      gain += discount(i);
      metrics.recall_at_10 += 1;
    }
    precision_sum += static_cast<double>(found) / static_cast<double>(i + 1);
  }
  double ideal = 0;
  for (size_t i = 0; i < std::min<size_t>(gold, 10); ++i) {
    ideal += discount(i);
  }
  const auto all = static_cast<double>(gold);
  metrics.precision_at_1 = !hits.empty() && hits[0] != 0 ? 1.0 : 0.0;
  metrics.ndcg_at_10 = gain / ideal;
  metrics.recall_at_10 /= all;
  metrics.recall_at_100 = static_cast<double>(found) / all;
  metrics.map_at_100 = precision_sum / all;
  return metrics;
}

Metrics mean_metrics(std::span<const Metrics> questions) {
  Metrics sum;
  for (const Metrics& one : questions) {
    sum.precision_at_1 += one.precision_at_1;
    sum.mrr_at_10 += one.mrr_at_10;
    sum.ndcg_at_10 += one.ndcg_at_10;
    sum.recall_at_10 += one.recall_at_10;
    sum.recall_at_100 += one.recall_at_100;
    sum.map_at_100 += one.map_at_100;
  }
  const double count = std::max<double>(1, static_cast<double>(questions.size()));
  return {sum.precision_at_1 / count, sum.mrr_at_10 / count,     sum.ndcg_at_10 / count,
          sum.recall_at_10 / count,   sum.recall_at_100 / count, sum.map_at_100 / count};
}

std::array<Estimate, 6> estimate(std::span<const Metrics> questions, size_t resamples,
                                 uint64_t seed) {
  const std::array<double, 6> means = metric_values(mean_metrics(questions));
  std::array<std::vector<double>, 6> columns;
  for (const Metrics& one : questions) {
    const std::array<double, 6> values = metric_values(one);
    for (size_t m = 0; m < values.size(); ++m) {
      columns[m].push_back(values[m]);
    }
  }
  std::array<Estimate, 6> result;
  for (size_t m = 0; m < result.size(); ++m) {
    // The same seed for each metric: all are judged on the same resampled questions.
    result[m] = percentile_interval(questions.size(), resamples, seed, means[m],
                                    [&](std::span<const uint32_t> drawn) {
                                      double sum = 0;
                                      for (const uint32_t index : drawn) {
                                        sum += columns[m][index];
                                      }
                                      return sum / static_cast<double>(drawn.size());
                                    });
  }
  return result;
}

Estimate paired_difference(std::span<const double> a, std::span<const double> b, size_t resamples,
                           uint64_t seed) {
  base::check(a.size() == b.size(), "paired values of the same questions");
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += a[i] - b[i];
  }
  const double mean = a.empty() ? 0 : sum / static_cast<double>(a.size());
  return percentile_interval(a.size(), resamples, seed, mean, [&](std::span<const uint32_t> drawn) {
    double total = 0;
    for (const uint32_t index : drawn) {
      total += a[index] - b[index];
    }
    return total / static_cast<double>(drawn.size());
  });
}

}  // namespace sibyl::rank
