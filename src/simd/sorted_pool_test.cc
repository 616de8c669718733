#include "simd/sorted_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

#include "simd/internal/every_level.h"

namespace sibyl::simd {
namespace {

struct Item {
  float distance;
  uint32_t item;
};

TEST(SortedPool, KeepsTheNearestInOrderAtEveryLevel) {
  at_every_level([] {
    std::mt19937 random(1);
    for (const size_t capacity : {1U, 5U, 16U, 31U, 64U, 100U, 300U}) {
      std::vector<float> distances(capacity + kPoolBeyond);
      std::vector<uint32_t> items(capacity + kPoolBeyond);
      SortedPool pool{distances.data(), items.data(), 0, capacity};
      std::vector<Item> want;
      uint32_t next = 0;
      for (int round = 0; round < 60; ++round) {
        std::array<float, kPoolBatchRoom> new_distances;
        std::array<uint32_t, kPoolBatchRoom> new_items;
        const size_t count = random() % (kPoolBatch + 1);
        for (size_t i = 0; i < count; ++i) {
          // Few values, so that many are equal.
          new_distances[i] = static_cast<float>(random() % 200) - 50.0F;
          new_items[i] = next++;
          want.push_back({new_distances[i], new_items[i]});
        }
        std::sort(want.begin(), want.end(), [](const Item& a, const Item& b) {
          return a.distance != b.distance ? a.distance < b.distance : a.item < b.item;
        });
        want.resize(std::min(want.size(), capacity));
        const uint32_t first_new = next - static_cast<uint32_t>(count);
        const auto lowest = static_cast<size_t>(
            std::find_if(want.begin(), want.end(),
                         [&](const Item& item) { return item.item >= first_new; }) -
            want.begin());
        EXPECT_EQ(insert_batch(pool, new_distances.data(), new_items.data(), count), lowest);
        ASSERT_EQ(pool.size, want.size());
        for (size_t i = 0; i < want.size(); ++i) {
          ASSERT_EQ(distances[i], want[i].distance) << capacity << ' ' << i;
          ASSERT_EQ(items[i], want[i].item) << capacity << ' ' << i;
        }
      }
    }
  });
}

TEST(SortedPool, KeepsWhatTheBitsName) {
  at_every_level([] {
    std::mt19937 random(2);
    std::array<float, kPoolBatch> numbers;
    std::array<uint32_t, kPoolBatch> items;
    for (uint32_t i = 0; i < kPoolBatch; ++i) {
      numbers[i] = static_cast<float>(i) * 0.5F;
      items[i] = 100 + i;
    }
    for (uint32_t bits : {0U, 1U, 0x80000000U, 0xFFFFFFFFU, 0xFFFF0000U, 0x0000FFFFU,
                          static_cast<uint32_t>(random()), static_cast<uint32_t>(random())}) {
      std::array<float, kPoolBatchRoom> kept;
      std::array<uint32_t, kPoolBatch> kept_items;
      const size_t count =
          keep_bits(bits, numbers.data(), items.data(), kept.data(), kept_items.data());
      ASSERT_EQ(count, static_cast<size_t>(std::popcount(bits)));
      for (size_t i = 0; i < count; ++i, bits &= bits - 1) {
        const auto bit = static_cast<size_t>(std::countr_zero(bits));
        EXPECT_EQ(kept[i], numbers[bit]);
        EXPECT_EQ(kept_items[i], items[bit]);
      }
    }
  });
}

}  // namespace
}  // namespace sibyl::simd
