#include "simd/top_k.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sibyl::simd {
namespace {

TEST(TopK, KeepsTheBestWhateverTheOrderOfArrival) {
  std::vector<Scored> items;
  for (uint64_t key = 0; key < 300; ++key) {
    items.push_back({static_cast<float>(key % 50), key});
  }
  auto expected = items;
  std::sort(expected.begin(), expected.end(), better);
  std::mt19937 random(5);
  for (const size_t k : {0, 1, 7, 299, 300, 500}) {
    std::shuffle(items.begin(), items.end(), random);
    TopK top(k);
    for (const Scored& item : items) {
      top.add(item.score, item.key);
    }
    EXPECT_EQ(top.full(), k <= 300);
    const size_t kept = std::min<size_t>(k, 300);
    EXPECT_EQ(top.take(), std::vector<Scored>(expected.begin(), expected.begin() + kept));
  }
}

TEST(TopK, ThresholdIsTheWorstKept) {
  TopK top(2);
  top.add(1, 1);
  top.add(3, 2);
  EXPECT_EQ(top.threshold(), 1);
  top.add(2, 3);
  EXPECT_EQ(top.threshold(), 2);
}

}  // namespace
}  // namespace sibyl::simd
