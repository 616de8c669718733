#include "store/internal/index_policy.h"

#include <vector>

#include <gtest/gtest.h>

namespace sibyl::store {
namespace {

using Vectors = std::vector<uint64_t>;
using Built = std::vector<IndexRange>;

TEST(IndexPolicy, FewVectorsStayExact) {
  EXPECT_FALSE(choose_build({}, {}, 10, 100));
  EXPECT_FALSE(choose_build(Vectors{4, 5}, {}, 10, 100));
  EXPECT_FALSE(choose_build(Vectors{0}, {}, 0, 100));
}

TEST(IndexPolicy, AllSegmentsGetFlatCodesAndLaterAGraph) {
  EXPECT_EQ(choose_build(Vectors{4, 6}, {}, 10, 100), (IndexRange{0, 2, false}));
  EXPECT_EQ(choose_build(Vectors{40, 60}, {}, 10, 100), (IndexRange{0, 2, true}));
  EXPECT_EQ(choose_build(Vectors{90, 1}, Built{{0, 1, false}}, 32, 100), std::nullopt);
  EXPECT_EQ(choose_build(Vectors{90, 10}, Built{{0, 2, false}}, 10, 100), (IndexRange{0, 2, true}));
  EXPECT_FALSE(choose_build(Vectors{90, 10}, Built{{0, 2, true}}, 10, 100));
}

TEST(IndexPolicy, WhatHasNoIndexGetsOneWithWhatFollowsUntilItIsAQuarter) {
  EXPECT_FALSE(choose_build(Vectors{1000, 1}, Built{{0, 1, true}}, 32, 100));
  EXPECT_EQ(choose_build(Vectors{1000, 1, 1}, Built{{0, 1, true}}, 32, 100),
            (IndexRange{1, 2, false}));
  EXPECT_FALSE(choose_build(Vectors{1000, 1, 1, 1}, Built{{0, 1, true}, {1, 2, false}}, 32, 100));
  EXPECT_EQ(choose_build(Vectors{1000, 1, 1, 2}, Built{{0, 1, true}, {1, 2, false}}, 32, 100),
            (IndexRange{1, 3, false}));
  EXPECT_EQ(choose_build(Vectors{1000, 200, 50}, Built{{0, 1, true}, {1, 1, false}}, 32, 100),
            (IndexRange{0, 3, true}));
}

TEST(IndexPolicy, EightIndexesOfSealsStandBesideTheLargeOne) {
  Vectors vectors(9, 5);
  vectors[0] = 1000;
  Built built;
  for (size_t i = 0; i < 9; ++i) {
    built.push_back({i, 1, i == 0});
  }
  EXPECT_FALSE(choose_build(vectors, built, 32, 100));
  vectors.push_back(5);
  built.push_back({9, 1, false});
  EXPECT_EQ(choose_build(vectors, built, 32, 100), (IndexRange{1, 9, false}));
}

TEST(IndexPolicy, SegmentsInFrontOfTheLargeIndexMakeANewOne) {
  EXPECT_EQ(choose_build(Vectors{20, 1000}, Built{{1, 1, true}}, 10, 100),
            (IndexRange{0, 2, true}));
}

}  // namespace
}  // namespace sibyl::store
