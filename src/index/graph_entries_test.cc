#include "index/internal/graph_entries.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "index/internal/graph_test_kit.h"

namespace sibyl::index {
namespace {

using namespace graph_test;

GraphEntries entries_of(size_t count, size_t entries_max, uint64_t seed) {
  const Set set = make_set(count, 8, false, 3);
  NeighbourGraphSettings settings;
  const auto graph = build_neighbour_graph(set.vectors, 8, settings);
  EXPECT_TRUE(graph);
  return choose_entries(set.vectors, 8, *graph, entries_max, seed);
}

TEST(GraphEntries, EachIsADifferentNodeAndTheFirstAreForEveryWalk) {
  const GraphEntries entries = entries_of(1500, 150, 1);
  EXPECT_EQ(entries.nodes.size(), 150U);
  EXPECT_GE(entries.always, 64U);
  EXPECT_LT(entries.always, 150U);
  EXPECT_EQ(std::set(entries.nodes.begin(), entries.nodes.end()).size(), 150U);
  EXPECT_LT(*std::max_element(entries.nodes.begin(), entries.nodes.end()), 1500U);
  EXPECT_EQ(entries_of(1500, 150, 1).nodes, entries.nodes);
  EXPECT_NE(entries_of(1500, 150, 2).nodes, entries.nodes);
}

TEST(GraphEntries, NoFurtherOnesAreDrawnWhereNoneAreAskedForOrNodesAreFew) {
  const GraphEntries none = entries_of(1500, 0, 1);
  EXPECT_EQ(none.nodes.size(), none.always);
  for (const size_t count : {1, 2, 31, 33, 64, 100}) {
    const GraphEntries few = entries_of(count, 4000, 1);
    EXPECT_GE(few.always, 1U);
    EXPECT_LE(few.nodes.size(), count);
    EXPECT_EQ(std::set(few.nodes.begin(), few.nodes.end()).size(), few.nodes.size());
  }
}

/// No node leads to another, so that a walk finds entry points alone.
std::string without_edges(const std::string& file, const GraphMeta& meta) {
  return changed(file, kGraphNodes, [&](std::string& nodes) {
    const NodeLayout layout{meta.dimension, meta.degree, meta.groups};
    for (uint32_t node = 0; node < meta.vectors; ++node) {
      for (size_t i = 0; i < meta.degree; ++i) {
        std::memcpy(nodes.data() + node * layout.bytes() + layout.neighbours_at() + i * 4, &node,
                    4);
      }
    }
  });
}

/// The last entry point.
uint32_t last_entry(const std::string& file, const GraphMeta& meta) {
  const auto opened = CheckedFile::open(memory_view(file), "file", kGraphMagic, kGraphVersion);
  const EntryLayout layout{meta.groups};
  const std::string_view section = opened->section(kGraphEntries);
  uint32_t node = 0;
  std::memcpy(&node,
              section.data() + (meta.entries / simd::kScanLanes - 1) * layout.bytes() +
                  layout.nodes_at() + 4 * (simd::kScanLanes - 1),
              sizeof(node));
  return node;
}

TEST(GraphEntries, AWalkWithMoreEffortLooksAtMoreOfThem) {
  const auto vectors = exact_of(make_set(3000, 12, false, 5));
  const std::string file = file_of(*vectors, settings_of(Metric::kSquaredL2));
  const GraphMeta meta = meta_of(file);
  EXPECT_EQ(meta.entries, 192U);  // one node in 16, in whole blocks
  ASSERT_LT(meta.entries_always, meta.entries);
  const std::string alone = without_edges(file, meta);
  const auto index = open_graph_index(memory_view(alone), "alone", vectors);
  ASSERT_TRUE(index);
  const uint32_t last = last_entry(alone, meta);
  const auto nearest = [&](uint32_t effort) {
    std::vector<VectorHit> hits;
    (*index)->search_with(vectors->vectors_of(last), 1, nullptr, {.effort = effort}, hits);
    return hits.at(0).row;
  };
  EXPECT_NE(nearest(meta.entries_always / simd::kScanLanes), last);
  EXPECT_EQ(nearest(64), last);
}

TEST(GraphEntries, MoreForEveryWalkThanThereAreIsRefused) {
  const auto vectors = exact_of(make_set(400, 12, false, 5));
  const std::string file = file_of(*vectors, settings_of(Metric::kSquaredL2));
  for (const uint32_t always : {0U, 16U, meta_of(file).entries + 32, 1U << 31U}) {
    const std::string wrong = changed(file, kGraphMeta, [&](std::string& bytes) {
      std::memcpy(bytes.data() + offsetof(GraphMeta, entries_always), &always, sizeof(always));
    });
    EXPECT_FALSE(open_graph_index(memory_view(wrong), "wrong", vectors)) << always;
  }
}

}  // namespace
}  // namespace sibyl::index
