#include "store/internal/merge_policy.h"

#include <vector>

#include <gtest/gtest.h>

namespace sibyl::store {
namespace {

std::vector<SegmentSize> full(const std::vector<uint64_t>& rows) {
  std::vector<SegmentSize> segments;
  for (const uint64_t count : rows) {
    segments.push_back({count, count});
  }
  return segments;
}

TEST(MergePolicy, WaitsUntilEnoughOfOneSizeStandSideBySide) {
  EXPECT_FALSE(choose_merge({}, 10, 3, 1000));
  EXPECT_FALSE(choose_merge(full({10, 10}), 10, 3, 1000));
  EXPECT_EQ(choose_merge(full({10, 10, 10}), 10, 3, 1000), (MergeRange{0, 3}));
  EXPECT_EQ(choose_merge(full({300, 10, 10, 10}), 10, 3, 1000), (MergeRange{1, 3}));
  // A larger one between them keeps them apart, as rows stay in the order of their sequences.
  EXPECT_FALSE(choose_merge(full({10, 10, 300, 10}), 10, 3, 1000));
}

TEST(MergePolicy, LargerClassesTakeSmallerNeighboursWithThem) {
  EXPECT_EQ(choose_merge(full({30, 10, 30, 30}), 10, 3, 1000), (MergeRange{0, 4}));
  EXPECT_FALSE(choose_merge(full({30, 10, 30}), 10, 3, 1000));
}

TEST(MergePolicy, ASegmentWithAThirdDeletedIsRewrittenAlone) {
  EXPECT_EQ(choose_merge(std::vector<SegmentSize>{{90, 80}, {30, 20}}, 10, 3, 1000),
            (MergeRange{1, 1}));
  EXPECT_FALSE(choose_merge(std::vector<SegmentSize>{{90, 80}, {30, 21}}, 10, 3, 1000));
  EXPECT_EQ(choose_merge(std::vector<SegmentSize>{{5, 0}}, 10, 3, 1000), (MergeRange{0, 1}));
}

TEST(MergePolicy, WhatASegmentCannotHoldIsNotMerged) {
  EXPECT_EQ(choose_merge(full({20, 20, 20}), 10, 3, 50), (MergeRange{0, 2}));
  EXPECT_FALSE(choose_merge(full({20, 20, 20}), 10, 3, 30));
}

// What the classes are for: a row is rewritten about log_width(rows / rows_min) times.
TEST(MergePolicy, RewritesEachRowOnceAClass) {
  std::vector<SegmentSize> segments;
  uint64_t rewritten = 0;
  constexpr uint64_t kSeals = 4096;
  for (uint64_t i = 0; i < kSeals; ++i) {
    segments.push_back({10, 10});
    while (const auto range = choose_merge(segments, 10, 8, UINT32_MAX)) {
      SegmentSize merged;
      for (size_t at = range->first; at < range->first + range->count; ++at) {
        merged.rows += segments[at].rows;
        merged.live_rows += segments[at].live_rows;
      }
      rewritten += merged.rows;
      const auto begin = segments.begin() + static_cast<ptrdiff_t>(range->first);
      segments.erase(begin + 1, begin + static_cast<ptrdiff_t>(range->count));
      *begin = merged;
    }
    EXPECT_LE(segments.size(), 7U * 5U);
  }
  EXPECT_LE(rewritten, kSeals * 10 * 4);
}

}  // namespace
}  // namespace sibyl::store
