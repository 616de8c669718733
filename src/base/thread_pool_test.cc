#include "base/thread_pool.h"

#include <atomic>
#include <latch>
#include <vector>

#include <gtest/gtest.h>

namespace sibyl::base {
namespace {

TEST(ThreadPool, ForEachDoesEveryIndexOnce) {
  ThreadPool pool(3, 4);
  std::vector<std::atomic<int>> seen(10'000);
  pool.for_each(seen.size(), [&](size_t i) { ++seen[i]; });
  for (const auto& count : seen) {
    ASSERT_EQ(count.load(), 1);
  }
  pool.for_each(0, [](size_t) { FAIL(); });
}

// The pool's only thread waits inside its own for_each: whoever calls must be able to do all.
TEST(ThreadPool, ForEachInsideItsOwnTasksEnds) {
  std::atomic<int> count{0};
  std::latch done(1);
  ThreadPool pool(1, 4);
  pool.for_each(8, [&](size_t) {
    pool.for_each(8, [&](size_t) { pool.for_each(8, [&](size_t) { ++count; }); });
  });
  EXPECT_EQ(count.load(), 512);
  pool.submit([&] {
    pool.for_each(100, [&](size_t) { ++count; });
    done.count_down();
  });
  done.wait();
  EXPECT_EQ(count.load(), 612);
}

TEST(ThreadPool, AFullQueueRefuses) {
  std::latch running(1);
  std::latch go(1);
  ThreadPool pool(1, 1);  // ends before what its task waits for
  pool.submit([&] {
    running.count_down();
    go.wait();
  });
  running.wait();
  EXPECT_TRUE(pool.try_submit([] {}));
  const auto refused = pool.try_submit([] {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::ResourceExhausted);
  go.count_down();
}

TEST(ThreadPool, WhatIsQueuedRunsBeforeTheEnd) {
  std::atomic<int> count{0};
  {
    ThreadPool pool(2, 100);
    for (int i = 0; i < 100; ++i) {
      pool.submit([&] { ++count; });
    }
  }
  EXPECT_EQ(count.load(), 100);
}

TEST(UsableCores, IsAtLeastOne) {
  EXPECT_GE(usable_cores(), 1U);
}

}  // namespace
}  // namespace sibyl::base
