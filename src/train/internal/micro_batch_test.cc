#include "train/internal/micro_batch.h"

#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

std::vector<std::vector<int32_t>> sequences_of(const std::vector<size_t>& lengths) {
  std::vector<std::vector<int32_t>> out;
  for (const size_t length : lengths) {
    out.emplace_back(length);
    std::iota(out.back().begin(), out.back().end(), static_cast<int32_t>(100 * out.size()));
  }
  return out;
}

TEST(MicroBatch, EqualLengthsStandSideBySideWithoutPadding) {
  const auto sequences = sequences_of({3, 5, 3, 5, 3});
  const std::vector<std::span<const int32_t>> views(sequences.begin(), sequences.end());
  const auto batches = make_micro_batches(views, {.tokens_max = 100});
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].runs.size(), 2U);
  EXPECT_EQ(batches[0].runs[0].length, 5U);
  EXPECT_EQ(batches[0].runs[1].count, 3U);
  EXPECT_EQ(batches[0].ids.size(), 19U);
  EXPECT_FALSE(batches[0].runs[0].padded);
  EXPECT_EQ(batches[0].items, (std::vector<size_t>{1, 3, 0, 2, 4}));
  EXPECT_EQ(batches[0].ids[batches[0].runs[1].first_token], 100);
}

TEST(MicroBatch, KeepsTheTokenBudgetAndEverySequence) {
  const auto sequences = sequences_of({7, 2, 9, 4, 4, 1, 30, 6});
  const std::vector<std::span<const int32_t>> views(sequences.begin(), sequences.end());
  std::multiset<size_t> seen;
  for (const MicroBatch& batch : make_micro_batches(views, {.tokens_max = 16})) {
    EXPECT_TRUE(batch.ids.size() <= 16 || batch.items.size() == 1);
    seen.insert(batch.items.begin(), batch.items.end());
  }
  EXPECT_EQ(seen, (std::multiset<size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(MicroBatch, PadsUpToTheStepAndRemembersRealLengths) {
  const auto sequences = sequences_of({5, 8});
  const std::vector<std::span<const int32_t>> views(sequences.begin(), sequences.end());
  const auto batches =
      make_micro_batches(views, {.tokens_max = 100, .length_step = 8, .padding_id = 42});
  ASSERT_EQ(batches[0].runs.size(), 1U);
  EXPECT_TRUE(batches[0].runs[0].padded);
  EXPECT_EQ(batches[0].lengths, (std::vector<int32_t>{8, 5}));
  EXPECT_EQ(batches[0].ids[13], 42);
}

TEST(MicroBatch, EmptySequencesAreKept) {
  const auto sequences = sequences_of({0, 2, 0});
  const std::vector<std::span<const int32_t>> views(sequences.begin(), sequences.end());
  const auto batches = make_micro_batches(views, {.tokens_max = 10});
  EXPECT_EQ(batches[0].items, (std::vector<size_t>{1, 0, 2}));
}

}  // namespace
}  // namespace sibyl::train
