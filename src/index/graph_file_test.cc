#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "index/internal/graph_test_kit.h"

namespace sibyl::index {
namespace {

using namespace graph_test;

TEST(GraphFile, TheSameSeedGivesTheSameFileAtAnyNumberOfThreads) {
  const auto vectors = exact_of(make_set(1500, 12, true, 15));
  GraphSettings settings = settings_of(Metric::kInnerProduct);
  const std::string one = file_of(*vectors, settings);
  settings.graph.threads = 3;
  EXPECT_EQ(one, file_of(*vectors, settings));
}

TEST(GraphFile, RefusesWrongSettingsAndOtherVectors) {
  const auto vectors = exact_of(make_set(300, 12, true, 16));
  const ByteSink sink = [](std::string_view) { return Result<void>(); };
  GraphSettings settings;
  settings.graph.degree = 20;
  auto refused = write_graph_index(*vectors, settings, sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  settings.graph.degree = 32;
  NeighbourGraph graph{32, 0, std::vector<uint32_t>(size_t{300} * 32, 300)};
  refused = write_graph_index_of(*vectors, graph, settings, sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  const std::string file = file_of(*vectors, settings);
  const auto others = exact_of(make_set(300, 12, true, 17));
  const auto opened = open_graph_index(memory_view(file), "graph-file", others);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::DataLoss);
  EXPECT_NE(opened.error().message.find("graph-file"), std::string::npos);
}

TEST(GraphFile, HostileFilesAreRefusedOrSearchedWithoutHarm) {
  const auto vectors = exact_of(make_set(400, 12, true, 18));
  const std::string file = file_of(*vectors, settings_of(Metric::kInnerProduct));
  std::mt19937 random(19);
  const auto try_file = [&](const std::string& bytes) {
    const auto opened = open_graph_index(memory_view(bytes), "hostile", vectors);
    if (opened) {
      std::vector<VectorHit> hits;
      for (const size_t k : {1U, 10U}) {
        (*opened)->search_with(vectors->vectors_of(5), k, nullptr, {.effort = 5}, hits);
        EXPECT_EQ(hits.size(), k);
      }
    }
    return opened.has_value();
  };
  EXPECT_TRUE(try_file(file));
  for (uint32_t section = kGraphMeta; section <= kGraphNodes; ++section) {
    for (int i = 0; i < 60; ++i) {
      try_file(changed(file, section, [&](std::string& bytes) {
        for (int j = 0; j < 4; ++j) {
          bytes[random() % bytes.size()] = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
        }
      }));
    }
    EXPECT_FALSE(try_file(changed(file, section, [](std::string& bytes) { bytes.pop_back(); })));
    EXPECT_FALSE(try_file(changed(file, section, [](std::string& bytes) { bytes += "12345678"; })));
  }
  // A number of a neighbour beyond the nodes.
  EXPECT_FALSE(try_file(changed(file, kGraphNodes, [](std::string& bytes) {
    const NodeLayout layout{12, 32, 3};
    const uint32_t beyond = 400;
    std::memcpy(bytes.data() + layout.neighbours_at() + 12, &beyond, 4);
  })));
  for (size_t i = 0; i < 40; ++i) {
    std::string flipped = file;
    flipped[random() % flipped.size()] ^= static_cast<char>(1U << random() % 8);
    EXPECT_FALSE(try_file(flipped));
  }
}

TEST(GraphFile, NodesThatAreNotCheckedYetLeadNowhereOutside) {
  const auto vectors = exact_of(make_set(400, 12, true, 34));
  for (const bool compact : {false, true}) {
    const std::string file = file_of(*vectors, settings_of(Metric::kInnerProduct, compact));
    const auto whole = open_graph_index(memory_view(file), "whole", vectors, true);
    ASSERT_TRUE(whole);
    EXPECT_GE(recall_of(**whole, *vectors, Metric::kInnerProduct, 10, nullptr, 35), 0.95);
    const GraphMeta meta = meta_of(file);
    const NodeLayout layout{12, 32, meta.groups};
    const std::string wrong = changed(file, kGraphNodes, [&](std::string& nodes) {
      for (size_t node = 0; node < 400; node += 2) {
        std::memset(nodes.data() + node * layout.bytes() + layout.neighbours_at(), 0xFF, 64);
      }
    });
    EXPECT_FALSE(open_graph_index(memory_view(wrong), "wrong", vectors));
    const auto opened = open_graph_index(memory_view(wrong), "wrong", vectors, true);
    ASSERT_TRUE(opened);
    RowSet some(400);
    for (size_t row = 0; row < 400; row += 3) {
      some.insert(row);
    }
    std::vector<VectorHit> hits;
    for (uint32_t row = 0; row < 400; row += 7) {
      for (const RowSet* allowed : {static_cast<const RowSet*>(nullptr), &std::as_const(some)}) {
        (*opened)->search_with(vectors->vectors_of(row), 10, allowed, {.effort = 8}, hits);
        EXPECT_LE(hits.size(), 10U);
        for (const VectorHit& hit : hits) {
          EXPECT_EQ(hit.score, score_of(Metric::kInnerProduct, vectors->vectors_of(row),
                                        vectors->vectors_of(hit.row)));
        }
      }
    }
    std::string out;
    EXPECT_FALSE(extend_graph_index(**opened, RowSet(400), *vectors,
                                    settings_of(Metric::kInnerProduct, compact), sink_into(out)));
  }
}

TEST(GraphFile, OfAGraphThatIsExtendedFindsWhatANewOneFinds) {
  // A tenth is gone, and another tenth has come.
  const Set old = make_set(1000, 16, true, 36);
  const Set later = make_set(100, 16, true, 37);
  RowSet removed(1000);
  Set now{16, std::vector<uint32_t>(1000, 1), {}};
  for (size_t row = 0; row < 1000; ++row) {
    if (row % 10 == 3) {
      removed.insert(row);
    } else {
      const auto vector = std::span(old.vectors).subspan(row * 16, 16);
      now.vectors.insert(now.vectors.end(), vector.begin(), vector.end());
    }
  }
  now.vectors.insert(now.vectors.end(), later.vectors.begin(), later.vectors.end());
  const GraphSettings settings = settings_of(Metric::kInnerProduct);
  const auto before = graph_of(exact_of(old), settings);
  const auto vectors = exact_of(now);
  std::string file;
  ASSERT_TRUE(extend_graph_index(*before, removed, *vectors, settings, sink_into(file)));
  const auto extended = open_graph_index(memory_view(file), "extended", vectors);
  ASSERT_TRUE(extended) << extended.error().message;
  const auto built = graph_of(vectors, settings);
  EXPECT_GE(recall_of(**extended, *vectors, Metric::kInnerProduct, 10, nullptr, 38, 100),
            recall_of(*built, *vectors, Metric::kInnerProduct, 10, nullptr, 38, 100) - 0.005);
  EXPECT_EQ(extend_graph_index(*vectors, removed, *vectors, settings, sink_into(file)).error().code,
            Code::InvalidArgument);
}

}  // namespace
}  // namespace sibyl::index
