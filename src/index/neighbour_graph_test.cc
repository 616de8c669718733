#include "index/neighbour_graph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "index/internal/neighbour_test_kit.h"

namespace sibyl::index {
namespace {

TEST(NeighbourGraph, EveryNodeOfEverySmallSetIsReached) {
  for (size_t count = 0; count <= 50; ++count) {
    const auto vectors = random_vectors(count, 5, count);
    const auto graph = build(vectors, 5);
    expect_well_formed(graph, count, 32);
    if (count > 0) {
      EXPECT_EQ(reached(graph, count), count);
    }
  }
}

TEST(NeighbourGraph, SmallSetsHaveEveryOtherNodeAsNeighbourNearestFirst) {
  const std::vector<float> line = {0, 1, 3, 7, 15};
  NeighbourGraphSettings settings;
  settings.metric = Metric::kSquaredL2;
  const auto graph = build(line, 1, settings);
  const auto first = graph.of(0).first(5);
  EXPECT_EQ(std::vector<uint32_t>(first.begin(), first.end()),
            (std::vector<uint32_t>{1, 2, 3, 4, NeighbourGraph::kNone}));
  const auto third = graph.of(2).first(5);
  EXPECT_EQ(std::vector<uint32_t>(third.begin(), third.end()),
            (std::vector<uint32_t>{1, 0, 3, 4, NeighbourGraph::kNone}));
}

TEST(NeighbourGraph, SearchFindsTheNearestBySquaredDistance) {
  const auto vectors = random_vectors(3000, 12, 1);
  const auto queries = random_vectors(20, 12, 2);
  NeighbourGraphSettings settings;
  settings.metric = Metric::kSquaredL2;
  const auto graph = build(vectors, 12, settings);
  expect_well_formed(graph, 3000, 32);
  EXPECT_EQ(reached(graph, 3000), 3000U);
  EXPECT_GE(recall_at_10(graph, vectors, 12, settings.metric, queries, 60), 0.98);
}

// Lengths from 0.1 to 10: the largest products are with long vectors, wherever those point.
TEST(NeighbourGraph, SearchFindsTheLargestInnerProductsOfVectorsOfAnyLength) {
  auto vectors = random_vectors(3000, 12, 1);
  base::Random random(3);
  for (size_t at = 0; at < vectors.size(); at += 12) {
    const double length = std::pow(10.0, random.uniform() * 2 - 1);
    for (size_t i = 0; i < 12; ++i) {
      vectors[at + i] *= static_cast<float>(length / 3.5);
    }
  }
  const auto queries = random_vectors(20, 12, 2);
  const auto graph = build(vectors, 12);
  EXPECT_EQ(reached(graph, 3000), 3000U);
  EXPECT_GE(recall_at_10(graph, vectors, 12, Metric::kInnerProduct, queries, 60), 0.95);
}

TEST(NeighbourGraph, OneSeedGivesOneGraphAtAnyNumberOfThreads) {
  const auto vectors = random_vectors(2000, 24, 4);
  NeighbourGraphSettings settings;
  const auto one = build(vectors, 24, settings);
  for (const unsigned threads : {2U, 3U}) {
    settings.threads = threads;
    const auto more = build(vectors, 24, settings);
    EXPECT_EQ(more.entry, one.entry);
    EXPECT_EQ(more.neighbours, one.neighbours) << threads;
  }
  settings.seed = 2;
  EXPECT_NE(build(vectors, 24, settings).neighbours, one.neighbours);
}

TEST(NeighbourGraph, ThousandsOfEqualVectorsAreReachedAndHideNoOther) {
  auto vectors = random_vectors(3000, 6, 5);
  for (size_t node = 500; node < 2500; ++node) {
    std::copy_n(vectors.begin() + 6, 6, vectors.begin() + static_cast<std::ptrdiff_t>(node * 6));
  }
  NeighbourGraphSettings settings;
  settings.metric = Metric::kSquaredL2;
  const auto graph = build(vectors, 6, settings);
  expect_well_formed(graph, 3000, 32);
  EXPECT_EQ(reached(graph, 3000), 3000U);
  // Near the equal ones ten of them are found; elsewhere the others are, as if there were none.
  const auto found =
      search(graph, vectors, 6, settings.metric, std::span(vectors).subspan(6, 6), 10);
  ASSERT_EQ(found.size(), 10U);
  for (const uint32_t node : found) {
    EXPECT_TRUE(node == 1 || (node >= 500 && node < 2500)) << node;
  }
  for (uint32_t node = 2500; node < 2600; ++node) {
    const auto near =
        search(graph, vectors, 6, settings.metric, std::span(vectors).subspan(node * 6, 6), 20);
    EXPECT_EQ(near.front(), node);
  }
}

TEST(NeighbourGraph, VectorsOfZerosAndOfBothSignsOfZeroAreOnePoint) {
  std::vector<float> vectors(1200 * 4);
  for (size_t i = 0; i < vectors.size(); i += 3) {
    vectors[i] = -0.0F;
  }
  for (const Metric metric : {Metric::kInnerProduct, Metric::kSquaredL2}) {
    NeighbourGraphSettings settings;
    settings.metric = metric;
    const auto graph = build(vectors, 4, settings);
    expect_well_formed(graph, 1200, 32);
    EXPECT_EQ(reached(graph, 1200), 1200U);
  }
}

// Neither overflow nor underflow of squares makes distances equal or not a number.
TEST(NeighbourGraph, LengthsAtTheEndsOfFloatAreSearchedAsOthersAre) {
  for (const float scale : {1e36F, 1e-36F}) {
    auto vectors = random_vectors(1500, 8, 6);
    for (float& value : vectors) {
      value *= scale;
    }
    NeighbourGraphSettings settings;
    settings.metric = Metric::kSquaredL2;
    const auto graph = build(vectors, 8, settings);
    EXPECT_EQ(reached(graph, 1500), 1500U);
    auto queries = random_vectors(10, 8, 7);
    for (float& value : queries) {
      value *= scale;
    }
    EXPECT_GE(recall_at_10(graph, vectors, 8, settings.metric, queries, 60), 0.98);
  }
}

TEST(NeighbourGraph, OneVeryLongVectorDoesNotHideTheOrderOfShortOnes) {
  auto vectors = random_vectors(1500, 8, 8);
  std::fill_n(vectors.begin(), 8, 1e6F);
  const auto queries = random_vectors(10, 8, 9);
  const auto graph = build(vectors, 8);
  EXPECT_EQ(reached(graph, 1500), 1500U);
  EXPECT_GE(recall_at_10(graph, vectors, 8, Metric::kInnerProduct, queries, 100), 0.9);
}

TEST(NeighbourGraph, EveryDimensionFromOneToTheLargestIsBuilt) {
  for (const size_t dimension : {1, 2, 3, 15, 16, 17, 100, 400}) {
    const auto vectors = random_vectors(300, dimension, dimension);
    const auto graph = build(vectors, dimension);
    expect_well_formed(graph, 300, 32);
    EXPECT_EQ(reached(graph, 300), 300U);
  }
  base::Random random(1);
  std::vector<float> vectors(40 * size_t{32'768});
  for (float& value : vectors) {
    value = static_cast<float>(random.uniform());
  }
  const auto graph = build(vectors, 32'768);
  expect_well_formed(graph, 40, 32);
  EXPECT_EQ(reached(graph, 40), 40U);
}

TEST(NeighbourGraph, AHigherDegreeIsFilled) {
  const auto vectors = random_vectors(1000, 16, 2);
  NeighbourGraphSettings settings;
  settings.degree = 64;
  const auto graph = build(vectors, 16, settings);
  expect_well_formed(graph, 1000, 64);
  EXPECT_NE(graph.of(17).back(), NeighbourGraph::kNone);
}

TEST(NeighbourGraph, WrongSettingsAreNamed) {
  const std::vector<float> vectors(12);
  NeighbourGraphSettings settings;
  settings.degree = 33;
  EXPECT_EQ(build_neighbour_graph(vectors, 4, settings).error().field, "degree");
  settings.degree = 0;
  EXPECT_EQ(build_neighbour_graph(vectors, 4, settings).error().field, "degree");
  EXPECT_EQ(build_neighbour_graph(vectors, 0, {}).error().field, "dimension");
  EXPECT_EQ(build_neighbour_graph(vectors, 32'769, {}).error().field, "dimension");
  EXPECT_EQ(build_neighbour_graph(vectors, 5, {}).error().field, "vectors");
  const std::vector<float> bad = {0, 1, 2, NAN};
  const auto refused = build_neighbour_graph(bad, 2, {});
  ASSERT_FALSE(refused);
  const Error& error = refused.error();
  EXPECT_EQ(error.code, Code::InvalidArgument);
  EXPECT_EQ(error.message, "vector 1 has a number at place 1 that is not finite");
}

TEST(NeighbourGraph, TooLittleMemoryIsRefusedWithBothFigures) {
  const auto vectors = random_vectors(1000, 8, 1);
  NeighbourGraphSettings settings;
  settings.memory_bytes_max = 100'000;
  const auto graph = build_neighbour_graph(vectors, 8, settings);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, Code::TooLarge);
  EXPECT_NE(graph.error().message.find("100000"), std::string::npos) << graph.error().message;
  settings.memory_bytes_max = uint64_t{1} << 30U;
  EXPECT_TRUE(build_neighbour_graph(vectors, 8, settings));
}

TEST(NeighbourGraph, ProgressOnlyRisesAndEndsAtOne) {
  const auto vectors = random_vectors(3000, 8, 1);
  NeighbourGraphSettings settings;
  settings.threads = 2;
  std::vector<double> shares;
  const auto graph = build_neighbour_graph(vectors, 8, settings, [&](double share) {
    shares.push_back(share);
    return true;
  });
  ASSERT_TRUE(graph);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GT(shares.size(), 10U);
  EXPECT_GE(shares.front(), 0.0);
  EXPECT_EQ(shares.back(), 1.0);
}

TEST(NeighbourGraph, CancellingEndsTheBuildAtOnceWhereverItIs) {
  const auto vectors = random_vectors(3000, 8, 1);
  NeighbourGraphSettings settings;
  settings.threads = 2;
  for (const double at : {0.0, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0}) {
    size_t after = 0;
    bool cancelled = false;
    const auto graph = build_neighbour_graph(vectors, 8, settings, [&](double share) {
      after += cancelled ? 1 : 0;
      cancelled = cancelled || share >= at;
      return !cancelled;
    });
    ASSERT_FALSE(graph) << at;
    EXPECT_EQ(graph.error().code, Code::Interrupted);
    EXPECT_EQ(after, 0U);
  }
}

}  // namespace
}  // namespace sibyl::index
