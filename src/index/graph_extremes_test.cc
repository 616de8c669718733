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

TEST(GraphExtremes, OddVectorsAndQueries) {
  const auto empty = exact_of(Set{4, {0, 0}, {}});
  std::vector<VectorHit> hits;
  graph_of(empty, settings_of(Metric::kInnerProduct))
      ->search(std::vector<float>(4, 1.0F), 3, nullptr, hits);
  EXPECT_TRUE(hits.empty());

  const auto same = exact_of(Set{3, std::vector<uint32_t>(500, 1), std::vector<float>(1500, 0.5F)});
  const auto index = graph_of(same, settings_of(Metric::kSquaredL2));
  index->search(std::vector<float>(3, 0.5F), 5, nullptr, hits);
  ASSERT_EQ(hits.size(), 5U);
  EXPECT_EQ(hits[0].score, 0.0F);

  const auto vectors = exact_of(make_set(2000, 8, true, 14));
  const auto graph = graph_of(vectors, settings_of(Metric::kInnerProduct));
  for (const float value : {0.0F, 1e30F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    graph->search(std::vector<float>(8, value), 5, nullptr, hits);
    EXPECT_LE(hits.size(), 5U) << value;
  }
  std::vector<VectorHit> scores(2);
  const std::vector<uint32_t> rows = {7, 3};
  graph->score(vectors->vectors_of(3), rows, scores);
  EXPECT_EQ(scores[0].row, 7U);
  EXPECT_NEAR(scores[1].score, 1.0F, 1e-5F);
  graph->search_with(vectors->vectors_of(3), 5, nullptr, {.effort = SIZE_MAX}, hits);
  ASSERT_EQ(hits.size(), 5U);
  EXPECT_EQ(hits[0].row, 3U);
}

TEST(GraphExtremes, LengthsAtTheEndsOfFloatAreAnsweredWithFiniteScores) {
  for (const float factor : {1e-41F, 1e16F, 1e20F}) {
    Set set = make_set(300, 8, false, 22);
    for (float& value : set.vectors) {
      value *= factor;
    }
    const auto vectors = exact_of(set);
    for (const Metric metric : {Metric::kInnerProduct, Metric::kSquaredL2}) {
      if (metric == Metric::kInnerProduct && factor > 1e18F) {
        continue;  // sums of infinities of both signs are no scores
      }
      const auto index = graph_of(vectors, settings_of(metric));
      std::vector<VectorHit> hits;
      index->search(vectors->vectors_of(3), 300, nullptr, hits);
      EXPECT_EQ(hits.size(), 300U) << factor;
      for (const VectorHit& hit : hits) {
        EXPECT_TRUE(std::isfinite(hit.score) && hit.score > kNoVector) << factor;
      }
    }
  }
}

TEST(GraphExtremes, EffortsAreFoundForCopiesAndForGreatLengthsToo) {
  // Each vector twice: the nearest neighbour is a copy, and either of two is as near.
  Set set = make_set(500, 12, false, 23);
  set.vectors.insert(set.vectors.end(), set.vectors.begin(), set.vectors.end());
  set.parts.assign(1000, 1);
  const GraphSettings settings = settings_of(Metric::kSquaredL2);
  const GraphMeta copies = meta_of(file_of(*exact_of(set), settings));
  EXPECT_EQ(copies.recall_max, 0.0F);
  EXPECT_LE(copies.efforts[kGraphEfforts - 1], 512U);
  // Squares that overflow are no success.
  for (float& value : set.vectors) {
    value *= std::ldexp(1.0F, 66);
  }
  const GraphMeta large = meta_of(file_of(*exact_of(set), settings));
  EXPECT_EQ(large.recall_max, 0.0F);
  EXPECT_GT(large.efforts[kGraphEfforts - 1], 16U);
  EXPECT_LE(large.efforts[kGraphEfforts - 1], 512U);
}

TEST(GraphExtremes, AVectorTooNearTheMeanForItsBytesCountsAsTheMean) {
  // Opposite vectors, so that the mean is 0, and one whose step would be denormal.
  Set set = make_set(400, 8, false, 31);
  const size_t half = set.vectors.size();
  for (size_t i = 0; i < half; ++i) {
    set.vectors.push_back(-set.vectors[i]);
  }
  for (const float tiny : {1e-43F, -1e-43F}) {
    set.vectors.insert(set.vectors.end(), 8, tiny);
  }
  set.parts.assign(802, 1);
  const auto vectors = exact_of(set);
  for (const bool compact : {false, true}) {
    const auto index = graph_of(vectors, settings_of(Metric::kSquaredL2, compact));
    std::vector<VectorHit> hits;
    index->search(std::vector<float>(8, 0.0F), 2, nullptr, hits);
    ASSERT_EQ(hits.size(), 2U);
    EXPECT_EQ(hits[0].row, 800U);
    EXPECT_EQ(hits[1].row, 801U);
    EXPECT_EQ(hits[0].score, 0.0F);
  }
}

TEST(GraphExtremes, AQueryWithinADenormalOfTheMeanIsAnsweredAsTheMeanIs) {
  const Set set = make_set(400, 8, false, 33);
  Set around = set;
  for (const float value : set.vectors) {
    around.vectors.push_back(-value);
  }
  around.parts.assign(800, 1);
  const auto vectors = exact_of(around);
  for (const bool compact : {false, true}) {
    const auto index = graph_of(vectors, settings_of(Metric::kSquaredL2, compact));
    std::vector<VectorHit> of_mean;
    index->search(std::vector<float>(8, 0.0F), 10, nullptr, of_mean);
    for (const float tiny : {1e-43F, 1e-38F, 1e-30F}) {
      std::vector<float> query(8, 0.0F);
      query[3] = tiny;
      std::vector<VectorHit> hits;
      index->search(query, 10, nullptr, hits);
      ASSERT_EQ(hits.size(), of_mean.size());
      for (size_t i = 0; i < hits.size(); ++i) {
        EXPECT_EQ(hits[i].row, of_mean[i].row) << tiny;
        EXPECT_EQ(hits[i].score, of_mean[i].score) << tiny;
      }
    }
  }
}

TEST(GraphExtremes, CodesThatAreNoNumbersDoNoHarm) {
  const auto vectors = exact_of(make_set(400, 12, true, 32));
  const std::string file = file_of(*vectors, settings_of(Metric::kInnerProduct));
  const GraphMeta meta = meta_of(file);
  const NodeLayout layout{12, 32, meta.groups};
  for (const size_t at :
       {layout.scale_at(), layout.scale_at() + 4, layout.add_at(), layout.gain_at()}) {
    const std::string odd = changed(file, kGraphNodes, [&](std::string& nodes) {
      for (size_t node = 0; node < 400; node += 3) {
        std::memset(nodes.data() + node * layout.bytes() + at, 0xFF, 4);  // NaN, also as float16
      }
    });
    const auto opened = open_graph_index(memory_view(odd), "odd", vectors);
    ASSERT_TRUE(opened) << opened.error().message;
    std::vector<VectorHit> hits;
    for (uint32_t row = 0; row < 400; row += 20) {
      (*opened)->search(vectors->vectors_of(row), 10, nullptr, hits);
      for (const VectorHit& hit : hits) {
        EXPECT_TRUE(std::isfinite(hit.score));
      }
    }
  }
}

TEST(GraphExtremes, AGraphThatCannotReachItsGoalSaysWhatItReaches) {
  // A ring: every node is reached, and no walk is led anywhere.
  constexpr uint32_t kCount = 2400;
  const auto vectors = exact_of(make_set(kCount, 8, true, 33));
  NeighbourGraph ring{32, 0, std::vector<uint32_t>(size_t{kCount} * 32, NeighbourGraph::kNone)};
  for (uint32_t node = 0; node < kCount; ++node) {
    ring.neighbours[size_t{node} * 32] = (node + 1) % kCount;
  }
  std::string file;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(
      write_graph_index_of(*vectors, ring, settings_of(Metric::kInnerProduct), sink_into(file)));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("do not reach their recall goal"),
            std::string::npos);
  const GraphMeta meta = meta_of(file);
  EXPECT_GT(meta.recall_max, 0.0F);
  EXPECT_LT(meta.recall_max, kGraphRecalls[kGraphEfforts - 1]);
  EXPECT_EQ(meta.efforts[kGraphEfforts - 1], 2048U);
}

}  // namespace
}  // namespace sibyl::index
