#include "store/internal/operations.h"

#include <thread>

#include <gtest/gtest.h>

namespace sibyl::store {
namespace {

TEST(Operations, OneRunsAndSaysHowFarItIs) {
  Operations operations;
  EXPECT_FALSE(operations.running());
  EXPECT_FALSE(operations.cancel());
  uint64_t told = 0;
  const Progress progress = [&](uint64_t done, uint64_t) { told = done; };
  {
    const auto running = operations.begin("compact", {}, progress);
    running->report(3, 7);
    EXPECT_EQ(told, 3U);
    ASSERT_TRUE(operations.running());
    EXPECT_EQ(operations.running()->name, "compact");
    EXPECT_EQ(operations.running()->done, 3U);
    EXPECT_EQ(operations.running()->total, 7U);
    EXPECT_FALSE(operations.running()->background);
    EXPECT_FALSE(running->stopped());
    EXPECT_TRUE(operations.cancel());
    EXPECT_TRUE(running->stopped());
  }
  EXPECT_FALSE(operations.running());
}

TEST(Operations, TheCallersTokenStopsItsOwn) {
  Operations operations;
  std::stop_source stop;
  const auto running = operations.begin("compact", stop.get_token(), {});
  EXPECT_FALSE(running->stopped());
  stop.request_stop();
  EXPECT_TRUE(running->stopped());
}

TEST(Operations, TheBackgroundGivesWay) {
  Operations operations;
  auto background = operations.try_begin({});
  ASSERT_TRUE(background);
  EXPECT_FALSE(operations.running());  // it has not said what it does
  background->rename("merge");
  EXPECT_TRUE(operations.running()->background);
  std::thread caller([&] {
    const auto running = operations.begin("switch model", {}, {});
    EXPECT_EQ(operations.running()->name, "switch model");
    EXPECT_FALSE(running->stopped());
  });
  while (!background->stopped()) {
    std::this_thread::yield();
  }
  background.reset();
  caller.join();
  const auto running = operations.begin("compact", {}, {});
  std::thread other([&] { EXPECT_FALSE(operations.try_begin({})); });
  other.join();
}

}  // namespace
}  // namespace sibyl::store
