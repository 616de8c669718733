#include "store/internal/memory_budget.h"

#include <gtest/gtest.h>

namespace sibyl::store {
namespace {

TEST(MemoryBudget, GrantsUpToItsLimitAndRefusesWithFigures) {
  const auto budget = MemoryBudget::create(10 << 20);
  auto first = budget->take(6 << 20, "one");
  ASSERT_TRUE(first);
  EXPECT_EQ(budget->free_bytes(), 4U << 20);
  const auto refused = budget->take(5 << 20, "a graph index");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::ResourceExhausted);
  EXPECT_EQ(refused.error().field, "memory_bytes_max");
  EXPECT_EQ(refused.error().message,
            "a graph index needs 5.0 MiB of memory; 4.0 of 10.0 MiB are free (memory_bytes_max)");
  first->reset();
  EXPECT_TRUE(budget->take(10 << 20, "all"));
  EXPECT_EQ(budget->free_bytes(), 10U << 20);
}

TEST(MemoryBudget, IsHalfOfTheMemoryWhereNothingIsSaid) {
  EXPECT_EQ(MemoryBudget::create(0)->bytes_max(), usable_memory_bytes() / 2);
  EXPECT_GT(usable_memory_bytes(), 64U << 20);
}

}  // namespace
}  // namespace sibyl::store
