#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "index/neighbour_graph.h"

// For tests of graphs: plain searches and what must hold of every graph.

namespace sibyl::index {

inline std::vector<float> random_vectors(size_t count, size_t dimension, uint64_t seed) {
  base::Random random(seed);
  std::vector<float> vectors(count * dimension);
  for (float& value : vectors) {
    value = static_cast<float>(random.normal());
  }
  return vectors;
}

inline NeighbourGraph build(std::span<const float> vectors, size_t dimension,
                            const NeighbourGraphSettings& settings = {}) {
  auto graph = build_neighbour_graph(vectors, dimension, settings);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *std::move(graph) : NeighbourGraph{};
}

inline double plain_score(Metric metric, std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(a[i]) - b[i];
    sum += metric == Metric::kInnerProduct ? static_cast<double>(a[i]) * b[i] : -apart * apart;
  }
  return sum;
}

/// Rows hold each neighbour once and never the node itself; kNone only at their end.
inline void expect_well_formed(const NeighbourGraph& graph, size_t count, uint32_t degree) {
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

inline size_t reached(const NeighbourGraph& graph, size_t count) {
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
inline std::vector<uint32_t> search(const NeighbourGraph& graph, std::span<const float> vectors,
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

inline double recall_at_10(const NeighbourGraph& graph, std::span<const float> vectors,
                           size_t dimension, Metric metric, std::span<const float> queries,
                           size_t width) {
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

}  // namespace sibyl::index
