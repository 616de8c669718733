#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "index/internal/graph_test_kit.h"

namespace sibyl::index {
namespace {

using namespace graph_test;

/// Clusters of 100 near vectors, in order or not; queries lie in the clusters.
struct Clusters {
  static constexpr size_t kEach = 100;
  static constexpr size_t kDimension = 16;
  Set set;
  std::vector<uint32_t> cluster_of;
  std::vector<float> queries;

  Clusters(size_t clusters, float spread, bool in_order, size_t queries_count) {
    std::mt19937 random(21);
    std::normal_distribution<float> normal;
    std::vector<float> centres(clusters * kDimension);
    for (float& value : centres) {
      value = normal(random);
    }
    const auto add = [&](size_t cluster, std::vector<float>& out) {
      for (size_t c = 0; c < kDimension; ++c) {
        out.push_back(centres[cluster * kDimension + c] + spread * normal(random));
      }
    };
    const size_t count = clusters * kEach;
    set = {kDimension, std::vector<uint32_t>(count, 1), {}};
    for (size_t i = 0; i < count; ++i) {
      cluster_of.push_back(static_cast<uint32_t>(in_order ? i / kEach : i % clusters));
      add(cluster_of.back(), set.vectors);
    }
    for (size_t i = 0; i < queries_count; ++i) {
      add(random() % clusters, queries);
    }
  }
  /// The rows of the first clusters.
  RowSet first(size_t clusters) const {
    RowSet rows(cluster_of.size());
    for (size_t row = 0; row < cluster_of.size(); ++row) {
      if (cluster_of[row] < clusters) {
        rows.insert(row);
      }
    }
    return rows;
  }
  double recall(const VectorIndex& index, const VectorIndex& vectors, const RowSet* allowed) const {
    size_t found = 0;
    std::vector<VectorHit> hits;
    for (size_t at = 0; at < queries.size(); at += kDimension) {
      const auto query = std::span(queries).subspan(at, kDimension);
      index.search(query, 10, allowed, hits);
      const float least = truth_of(vectors, Metric::kSquaredL2, query, 10, allowed).back().score;
      found += static_cast<size_t>(std::count_if(
          hits.begin(), hits.end(), [&](const VectorHit& hit) { return hit.score >= least; }));
    }
    return static_cast<double>(found) / static_cast<double>(queries.size() / kDimension * 10);
  }
};

TEST(GraphFilters, ManyTightClustersAreAllReachedWithAndWithoutAFilterOfSomeOfThem) {
  const Clusters made(80, 0.05F, false, 25);
  const auto vectors = exact_of(made.set);
  const auto index = graph_of(vectors, settings_of(Metric::kSquaredL2));
  EXPECT_GE(made.recall(*index, *vectors, nullptr), 0.95);
  for (const size_t clusters : {20U, 12U, 8U}) {
    const RowSet some = made.first(clusters);
    EXPECT_GE(made.recall(*index, *vectors, &some), 0.95) << clusters;
  }
}

TEST(GraphFilters, KeepRecallInEveryRegime) {
  const auto vectors = exact_of(make_set(3000, 16, true, 5));
  const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct));
  std::mt19937 random(6);
  const auto pole = vectors->vectors_of(17);
  for (const double share : {0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0}) {
    // By chance, near a pole, and far from it.
    std::vector<std::pair<float, uint32_t>> order;
    order.reserve(vectors->rows());
    for (uint32_t row = 0; row < vectors->rows(); ++row) {
      order.emplace_back(score_of(Metric::kInnerProduct, pole, vectors->vectors_of(row)), row);
    }
    std::sort(order.begin(), order.end());
    const auto count = static_cast<size_t>(share * static_cast<double>(order.size()));
    RowSet chance(vectors->rows());
    RowSet near(vectors->rows());
    RowSet far(vectors->rows());
    for (size_t i = 0; i < count; ++i) {
      far.insert(order[i].second);
      near.insert(order[order.size() - 1 - i].second);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < count; ++i) {
      chance.insert(order[i].second);
    }
    for (const RowSet* allowed : {&chance, &near, &far}) {
      EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, 10, allowed, 7, 20), 0.95)
          << share;
    }
  }
}

}  // namespace
}  // namespace sibyl::index
