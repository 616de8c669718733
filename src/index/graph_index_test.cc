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

void expect_nearest_found(Metric metric, bool compact) {
  for (const bool unit : {true, false}) {
    const auto vectors = exact_of(make_set(700, 16, unit, 1));
    const auto index = graph_of(vectors, settings_of(metric, compact));
    EXPECT_EQ(index->kind(), "graph");
    EXPECT_GE(recall_of(*index, *vectors, metric, 10, nullptr, 2), 0.95) << unit;
  }
}

TEST(GraphIndex, FindsTheNearestByInnerProduct) {
  expect_nearest_found(Metric::kInnerProduct, false);
}
TEST(GraphIndex, FindsTheNearestByInnerProductInTheCompactForm) {
  expect_nearest_found(Metric::kInnerProduct, true);
}
TEST(GraphIndex, FindsTheNearestBySquaredDistance) {
  expect_nearest_found(Metric::kSquaredL2, false);
}
TEST(GraphIndex, FindsTheNearestBySquaredDistanceInTheCompactForm) {
  expect_nearest_found(Metric::kSquaredL2, true);
}

TEST(GraphIndex, ManyWantedAndFewThere) {
  const auto vectors = exact_of(make_set(1200, 10, true, 3));
  const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct));
  for (const size_t k : {1U, 7U, 100U, 600U, 1200U, 5000U}) {
    EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, k, nullptr, 4, 10), 0.95) << k;
  }
  std::vector<VectorHit> hits(3);
  index->search(vectors->vectors_of(0), 0, nullptr, hits);
  EXPECT_TRUE(hits.empty());
}

TEST(GraphIndex, RowsOfSeveralVectorsAreAnsweredOnce) {
  Set set = make_set(3000, 16, true, 8);
  set.parts.clear();
  std::mt19937 random(9);
  size_t left = 3000;
  while (left > 0) {
    const size_t parts = std::min<size_t>(left, random() % 8);
    set.parts.push_back(static_cast<uint32_t>(parts));
    left -= parts;
  }
  // One row has hundreds of vectors near each other.
  set.parts.push_back(300);
  for (size_t i = 0; i < 300; ++i) {
    for (size_t c = 0; c < 16; ++c) {
      set.vectors.push_back(set.vectors[c] + 0.001F * static_cast<float>(random() % 100));
    }
  }
  const auto vectors = exact_of(set);
  for (const bool compact : {false, true}) {
    const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct, compact));
    EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, 10, nullptr, 10), 0.95);
    RowSet odd(vectors->rows());
    for (size_t row = 1; row < vectors->rows(); row += 2) {
      odd.insert(row);
    }
    EXPECT_GE(recall_of(*index, *vectors, Metric::kInnerProduct, 10, &odd, 11), 0.95);
    std::vector<VectorHit> hits;
    index->search(std::span(set.vectors).first(16), 20, nullptr, hits);
    EXPECT_EQ(hits.size(), 20U);
  }
}

TEST(GraphIndex, MoreEffortFindsMore) {
  const auto vectors = exact_of(make_set(3000, 32, true, 12));
  const auto index = graph_of(vectors, settings_of(Metric::kInnerProduct));
  const Set queries = make_set(40, 32, true, 13);
  const auto hits_at = [&](const SearchOptions& options) {
    size_t found = 0;
    std::vector<VectorHit> hits;
    for (size_t q = 0; q < 40; ++q) {
      const auto query = std::span(queries.vectors).subspan(q * 32, 32);
      index->search_with(query, 10, nullptr, options, hits);
      const auto truth = truth_of(*vectors, Metric::kInnerProduct, query, 10, nullptr);
      for (const VectorHit& hit : hits) {
        found += std::count_if(truth.begin(), truth.end(),
                               [&](const VectorHit& other) { return other.row == hit.row; });
      }
    }
    return found;
  };
  EXPECT_LT(hits_at({.effort = 10}), hits_at({.effort = 200}));
  EXPECT_GE(hits_at({.effort = 200}), 396U);
  EXPECT_LE(hits_at({.recall_goal = 0.9F}), hits_at({.recall_goal = 0.999F}));
}

}  // namespace
}  // namespace sibyl::index
