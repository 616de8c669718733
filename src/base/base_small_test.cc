// The small parts: clock, random, queue, metrics, log, stop, check.
#include <cmath>
#include <csignal>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/bounded_queue.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/stop.h"

namespace sibyl::base {
namespace {

TEST(FormatTime, IsIsoWithMilliseconds) {
  EXPECT_EQ(format_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(1'796'051'045'123'456), "2026-11-30T15:04:05.123Z");
  EXPECT_EQ(format_time(-1), "1969-12-31T23:59:59.999Z");
}

// First outputs of pcg32 with seed 42 and stream 54, from the generator's own demonstration.
TEST(Random, IsThePublishedGenerator) {
  Random random(42, 54);
  const std::vector<uint32_t> expected = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                          0x83d2f293, 0xbfa4784b, 0xcbed606e};
  for (const uint32_t value : expected) {
    EXPECT_EQ(random(), value);
  }
}

TEST(Random, GoesOnFromASavedState) {
  Random random(1);
  random();
  const Random::State state = random.state();
  const uint64_t next = random.next_u64();
  Random other(99);
  other.restore(state);
  EXPECT_EQ(other.next_u64(), next);
}

TEST(Random, StaysInItsBoundsAndIsNormal) {
  Random random(5);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_LT(random.below(7), 7U);
    const double uniform = random.uniform();
    ASSERT_GE(uniform, 0.0);
    ASSERT_LT(uniform, 1.0);
    const double normal = random.normal();
    sum += normal;
    squares += normal * normal;
  }
  EXPECT_NEAR(sum / 20'000, 0.0, 0.03);
  EXPECT_NEAR(squares / 20'000, 1.0, 0.05);
}

TEST(Random, ShuffleKeepsEveryItem) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> again = items;
  Random(3).shuffle(items);
  Random(3).shuffle(again);
  EXPECT_EQ(items, again);
  EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
  std::sort(items.begin(), items.end());
  EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0), 4950);
  EXPECT_EQ(items.front(), 0);
}

TEST(RandomHex, HasTheLengthAskedForAndDiffers) {
  EXPECT_EQ(random_hex(4).size(), 8U);
  EXPECT_NE(random_hex(8), random_hex(8));
}

TEST(BoundedQueue, RefusesWhenFullAndDrainsWhenClosed) {
  BoundedQueue<int> queue(2);
  int item = 1;
  EXPECT_TRUE(queue.try_push(item));
  EXPECT_TRUE(queue.try_push(item));
  EXPECT_FALSE(queue.try_push(item));
  queue.close();
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, APushWaitsForRoom) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.push(1));
  std::jthread other([&] { queue.push(2); });
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
}

TEST(Metrics, TheSameNameIsTheSameCounter) {
  MetricRegistry registry;
  registry.counter("sibyl_test_total", "help", {{"a", "1"}}).add(2);
  registry.counter("sibyl_test_total", "help", {{"a", "1"}}).add();
  EXPECT_EQ(registry.counter("sibyl_test_total", "help", {{"a", "1"}}).value(), 3);
  registry.gauge("sibyl_test_rows", "help").set(4);
  registry.histogram("sibyl_test_seconds", "help", {0.1, 1}).observe(0.5);
  const std::string text = registry.expose();
  EXPECT_NE(text.find("sibyl_test_total{a=\"1\"} 3"), std::string::npos) << text;
  EXPECT_NE(text.find("# TYPE sibyl_test_seconds histogram"), std::string::npos);
  EXPECT_NE(text.find("sibyl_test_seconds_bucket{le=\"1\"} 1"), std::string::npos) << text;
}

TEST(Log, LinesAreJsonWhenAskedFor) {
  configure_log(LogLevel::Info, true);
  testing::internal::CaptureStderr();
  log_info("base", "line {}\nbreak \"quoted\"", 1);
  log_debug("base", "not shown");
  const std::string out = testing::internal::GetCapturedStderr();
  configure_log(LogLevel::Info, false);
  const auto line = parse_json(out);
  ASSERT_TRUE(line) << out;
  EXPECT_EQ((*line)["level"], "info");
  EXPECT_EQ((*line)["room"], "base");
  EXPECT_EQ((*line)["message"], "line 1\nbreak \"quoted\"");
}

TEST(Log, APlainMessageIsOneLine) {
  testing::internal::CaptureStderr();
  log_warning("base", "two\nlines");
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(out.ends_with(" warning base: two lines\n")) << out;
}

TEST(Stop, SleepEndsEarlyWhenStopped) {
  std::stop_source source;
  EXPECT_FALSE(sleep_until_stop(source.get_token(), 0.001));
  source.request_stop();
  EXPECT_TRUE(sleep_until_stop(source.get_token(), 1000));
}

TEST(StopDeathTest, TheFirstSignalAsksAndTheSecondEnds) {
  const auto two_signals = [] {
    const std::stop_token stop = stop_on_signals();
    ::raise(SIGTERM);
    if (!sleep_until_stop(stop, 10)) {
      ::_exit(1);
    }
    ::raise(SIGTERM);
    ::_exit(2);
  };
  EXPECT_EXIT(two_signals(), testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(CheckDeathTest, ABrokenInvariantIsNamed) {
  EXPECT_DEATH(check(1 + 1 == 3, "arithmetic holds"), "broken invariant: arithmetic holds");
}

}  // namespace
}  // namespace sibyl::base
