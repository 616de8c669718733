#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "index/internal/neighbour_test_kit.h"
#include "index/neighbour_graph.h"

namespace sibyl::index {
namespace {

constexpr size_t kDimension = 12;

std::vector<float> without(std::span<const float> vectors, const RowSet& removed) {
  std::vector<float> kept;
  for (size_t node = 0; node < removed.size(); ++node) {
    if (!removed.contains(node)) {
      const auto vector = vectors.subspan(node * kDimension, kDimension);
      kept.insert(kept.end(), vector.begin(), vector.end());
    }
  }
  return kept;
}

/// Every tenth node, so that nearly all rows lose some.
RowSet every_tenth(size_t count) {
  RowSet removed(count);
  for (size_t node = 3; node < count; node += 10) {
    removed.insert(node);
  }
  return removed;
}

std::vector<float> append(std::vector<float> vectors, const std::vector<float>& more) {
  vectors.insert(vectors.end(), more.begin(), more.end());
  return vectors;
}

TEST(NeighbourExtension, ATenthRemovedAndATenthAddedIsAsGoodAsAFreshBuild) {
  const auto old_vectors = random_vectors(3000, kDimension, 1);
  const RowSet removed = every_tenth(3000);
  const auto vectors = append(without(old_vectors, removed), random_vectors(300, kDimension, 9));
  const auto queries = random_vectors(40, kDimension, 2);
  for (const Metric metric : {Metric::kSquaredL2, Metric::kInnerProduct}) {
    NeighbourGraphSettings settings;
    settings.metric = metric;
    const auto old = build(old_vectors, kDimension, settings);
    const auto extended = extend_neighbour_graph(old, removed, vectors, kDimension, settings);
    ASSERT_TRUE(extended) << extended.error().message;
    expect_well_formed(*extended, 3000, 32);
    EXPECT_EQ(reached(*extended, 3000), 3000U);
    const auto fresh = build(vectors, kDimension, settings);
    EXPECT_NE(extended->neighbours, fresh.neighbours);
    EXPECT_GE(recall_at_10(*extended, vectors, kDimension, metric, queries, 40),
              recall_at_10(fresh, vectors, kDimension, metric, queries, 40) - 0.01);
  }
}

TEST(NeighbourExtension, EveryNewNodeIsFoundAndNoRemovedOneIsNamed) {
  const auto old_vectors = random_vectors(1000, kDimension, 1);
  const RowSet removed = every_tenth(1000);
  const auto vectors = append(without(old_vectors, removed), random_vectors(200, kDimension, 9));
  NeighbourGraphSettings settings;
  settings.metric = Metric::kSquaredL2;
  const auto old = build(old_vectors, kDimension, settings);
  const auto extended = extend_neighbour_graph(old, removed, vectors, kDimension, settings);
  ASSERT_TRUE(extended);
  expect_well_formed(*extended, 1100, 32);
  for (uint32_t node = 900; node < 1100; ++node) {
    const auto found = search(*extended, vectors, kDimension, settings.metric,
                              std::span(vectors).subspan(node * kDimension, kDimension), 20);
    EXPECT_EQ(found.front(), node);
  }
}

TEST(NeighbourExtension, TheThreadsDoNotChangeTheGraph) {
  const auto old_vectors = random_vectors(2000, kDimension, 1);
  const RowSet removed = every_tenth(2000);
  const auto vectors = append(without(old_vectors, removed), random_vectors(200, kDimension, 9));
  NeighbourGraphSettings settings;
  const auto old = build(old_vectors, kDimension, settings);
  const auto one = extend_neighbour_graph(old, removed, vectors, kDimension, settings);
  settings.threads = 3;
  const auto three = extend_neighbour_graph(old, removed, vectors, kDimension, settings);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(one->neighbours, three->neighbours);
  EXPECT_EQ(one->entry, three->entry);
}

// The representative of a class of equal vectors goes; others take its place, and more come.
TEST(NeighbourExtension, EqualVectorsStayReachedWhenSomeGoAndSomeCome) {
  auto old_vectors = random_vectors(1000, kDimension, 1);
  for (size_t node = 400; node < 700; ++node) {
    std::copy_n(old_vectors.begin() + 5 * kDimension, kDimension,
                old_vectors.begin() + static_cast<std::ptrdiff_t>(node * kDimension));
  }
  RowSet removed(1000);
  removed.insert(5);
  removed.insert(400);
  auto vectors = without(old_vectors, removed);
  for (size_t copy = 0; copy < 100; ++copy) {
    const auto equal = std::span(old_vectors).subspan(5 * kDimension, kDimension);
    vectors.insert(vectors.end(), equal.begin(), equal.end());
  }
  const auto old = build(old_vectors, kDimension);
  const auto extended = extend_neighbour_graph(old, removed, vectors, kDimension, {});
  ASSERT_TRUE(extended);
  expect_well_formed(*extended, 1098, 32);
  EXPECT_EQ(reached(*extended, 1098), 1098U);
}

TEST(NeighbourExtension, NothingChangedNothingLeftAndMostlyNewAreGraphsToo) {
  const auto vectors = random_vectors(300, kDimension, 1);
  const auto old = build(vectors, kDimension);
  const auto same = extend_neighbour_graph(old, RowSet(300), vectors, kDimension, {});
  ASSERT_TRUE(same);
  EXPECT_EQ(reached(*same, 300), 300U);
  const auto none = extend_neighbour_graph(old, RowSet(300, true), {}, kDimension, {});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->neighbours.empty());
  const auto more = append(vectors, random_vectors(900, kDimension, 2));
  const auto grown = extend_neighbour_graph(old, RowSet(300), more, kDimension, {});
  ASSERT_TRUE(grown);
  EXPECT_EQ(grown->neighbours, build(more, kDimension).neighbours);
}

TEST(NeighbourExtension, WhatDoesNotFitIsRefusedByName) {
  const auto vectors = random_vectors(100, kDimension, 1);
  auto old = build(vectors, kDimension);
  const auto refused = [&](const NeighbourGraph& graph, const RowSet& removed, size_t count) {
    const auto result = extend_neighbour_graph(
        graph, removed, std::span(vectors).first(count * kDimension), kDimension, {});
    return result ? std::string("accepted") : result.error().field;
  };
  EXPECT_EQ(refused(old, RowSet(99), 100), "old");
  EXPECT_EQ(refused(old, RowSet(100), 99), "vectors");
  EXPECT_EQ(refused(NeighbourGraph{}, RowSet(100), 100), "old");
  old.neighbours[7] = 100;
  EXPECT_EQ(refused(old, RowSet(100), 100), "old");
}

TEST(NeighbourExtension, ProgressRisesToOneAndCancels) {
  const auto old_vectors = random_vectors(2000, kDimension, 1);
  const RowSet removed = every_tenth(2000);
  const auto vectors = append(without(old_vectors, removed), random_vectors(200, kDimension, 9));
  const auto old = build(old_vectors, kDimension);
  std::vector<double> shares;
  ASSERT_TRUE(extend_neighbour_graph(old, removed, vectors, kDimension, {}, [&](double share) {
    shares.push_back(share);
    return true;
  }));
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1.0);
  for (const double at : {0.0, 0.3, 0.7, 1.0}) {
    const auto cancelled = extend_neighbour_graph(old, removed, vectors, kDimension, {},
                                                  [&](double share) { return share < at; });
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, Code::Interrupted);
  }
}

}  // namespace
}  // namespace sibyl::index
