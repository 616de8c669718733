#include "index/neighbour_graph.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace sibyl::index {
namespace {

std::vector<float> random_vectors(size_t count, size_t dimension, uint64_t seed) {
  base::Random random(seed);
  std::vector<float> vectors(count * dimension);
  for (float& value : vectors) {
    value = static_cast<float>(random.normal());
  }
  return vectors;
}

NeighbourGraph build(std::span<const float> vectors, size_t dimension,
                     const NeighbourGraphSettings& settings = {}) {
  auto graph = build_neighbour_graph(vectors, dimension, settings);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *std::move(graph) : NeighbourGraph{};
}

double plain_score(Metric metric, std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(a[i]) - b[i];
    sum += metric == Metric::kInnerProduct ? static_cast<double>(a[i]) * b[i] : -apart * apart;
  }
  return sum;
}

/// Rows hold each neighbour once and never the node itself; kNone only at their end.
void expect_well_formed(const NeighbourGraph& graph, size_t count, uint32_t degree) {
  ASSERT_EQ(graph.degree, degree);
  ASSERT_EQ(graph.neighbours.size(), count * degree);
  for (size_t node = 0; node < count; ++node) {
    std::set<uint32_t> seen;
    bool ended = false;
    for (const uint32_t neighbour : graph.of(node)) {
      ended = ended || neighbour == NeighbourGraph::kNone;
      if (ended) {
        ASSERT_EQ(neighbour, NeighbourGraph::kNone);
      } else {
        ASSERT_LT(neighbour, count);
        ASSERT_NE(neighbour, node);
        ASSERT_TRUE(seen.insert(neighbour).second) << node << " twice to " << neighbour;
      }
    }
  }
}

size_t reached(const NeighbourGraph& graph, size_t count) {
  std::vector<bool> seen(count);
  std::vector<uint32_t> order{graph.entry};
  seen[graph.entry] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t next : graph.of(order[i])) {
      if (next != NeighbourGraph::kNone && !seen[next]) {
        seen[next] = true;
        order.push_back(next);
      }
    }
  }
  return order.size();
}

/// Best-first search with a pool of `width`.
std::vector<uint32_t> search(const NeighbourGraph& graph, std::span<const float> vectors,
                             size_t dimension, Metric metric, std::span<const float> query,
                             size_t width) {
  using Scored = std::pair<double, uint32_t>;
  const auto score = [&](uint32_t node) {
    return -plain_score(metric, query, vectors.subspan(node * dimension, dimension));
  };
  std::set<Scored> pool{{score(graph.entry), graph.entry}};
  std::set<Scored> expanded;
  std::set<uint32_t> seen{graph.entry};
  for (;;) {
    const auto next = std::find_if(pool.begin(), pool.end(),
                                   [&](const Scored& at) { return !expanded.contains(at); });
    if (next == pool.end()) {
      break;
    }
    const uint32_t here = next->second;
    expanded.insert(*next);
    for (const uint32_t node : graph.of(here)) {
      if (node != NeighbourGraph::kNone && seen.insert(node).second) {
        pool.emplace(score(node), node);
      }
    }
    while (pool.size() > width) {
      pool.erase(std::prev(pool.end()));
    }
  }
  std::vector<uint32_t> found;
  for (const Scored& at : pool) {
    found.push_back(at.second);
  }
  return found;
}

double recall_at_10(const NeighbourGraph& graph, std::span<const float> vectors, size_t dimension,
                    Metric metric, std::span<const float> queries, size_t width) {
  const size_t count = vectors.size() / dimension;
  size_t hits = 0;
  for (size_t at = 0; at < queries.size(); at += dimension) {
    const auto query = queries.subspan(at, dimension);
    std::vector<std::pair<double, uint32_t>> exact;
    for (uint32_t node = 0; node < count; ++node) {
      exact.emplace_back(-plain_score(metric, query, vectors.subspan(node * dimension, dimension)),
                         node);
    }
    std::partial_sort(exact.begin(), exact.begin() + 10, exact.end());
    const auto found = search(graph, vectors, dimension, metric, query, width);
    for (size_t i = 0; i < 10; ++i) {
      const auto end =
          found.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(10, found.size()));
      hits += std::find(found.begin(), end, exact[i].second) != end ? 1 : 0;
    }
  }
  return static_cast<double>(hits) / static_cast<double>(queries.size() / dimension * 10);
}

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
  const auto vectors = random_vectors(3000, 8, 4);
  NeighbourGraphSettings settings;
  const auto one = build(vectors, 8, settings);
  for (const unsigned threads : {2U, 3U}) {
    settings.threads = threads;
    const auto more = build(vectors, 8, settings);
    EXPECT_EQ(more.entry, one.entry);
    EXPECT_EQ(more.neighbours, one.neighbours) << threads;
  }
  settings.seed = 2;
  EXPECT_NE(build(vectors, 8, settings).neighbours, one.neighbours);
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
  for (const size_t dimension : {1, 2, 3, 15, 16, 17, 100, 1000}) {
    const auto vectors = random_vectors(300, dimension, dimension);
    const auto graph = build(vectors, dimension);
    expect_well_formed(graph, 300, 32);
    EXPECT_EQ(reached(graph, 300), 300U);
  }
  const auto vectors = random_vectors(70, 32'768, 1);
  const auto graph = build(vectors, 32'768);
  expect_well_formed(graph, 70, 32);
  EXPECT_EQ(reached(graph, 70), 70U);
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
