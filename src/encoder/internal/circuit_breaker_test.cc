#include "encoder/internal/circuit_breaker.h"

#include <gtest/gtest.h>

namespace sibyl::encoder {
namespace {

class StoppedClock final : public base::Clock {
 public:
  int64_t now_us() const override { return time_us; }
  int64_t steady_us() const override { return time_us; }
  int64_t time_us = 0;
};

class CircuitBreakerTest : public testing::Test {
 protected:
  void fail_times(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_TRUE(breaker_.admit());
      breaker_.fail();
    }
  }

  StoppedClock clock_;
  CircuitBreaker breaker_{{3, 1000, 4000}, clock_};
};

TEST_F(CircuitBreakerTest, OpensAfterFailuresInARowAlone) {
  fail_times(2);
  ASSERT_TRUE(breaker_.admit());
  breaker_.succeed();
  fail_times(2);
  EXPECT_FALSE(breaker_.is_open());
  fail_times(1);
  EXPECT_TRUE(breaker_.is_open());
  EXPECT_FALSE(breaker_.admit());
  EXPECT_EQ(breaker_.remaining_us(), 1000);
}

TEST_F(CircuitBreakerTest, LetsOneCallThroughAfterTheOpenTime) {
  fail_times(3);
  clock_.time_us = 999;
  EXPECT_FALSE(breaker_.admit());
  clock_.time_us = 1000;
  EXPECT_TRUE(breaker_.admit());
  EXPECT_FALSE(breaker_.admit()) << "one call, not two";
  breaker_.succeed();
  EXPECT_FALSE(breaker_.is_open());
  EXPECT_TRUE(breaker_.admit());
}

TEST_F(CircuitBreakerTest, StaysOpenTwiceAsLongEachTimeUpToTheMost) {
  fail_times(3);
  int64_t open_us = 1000;
  for (const int64_t next_us : {2000, 4000, 4000}) {
    clock_.time_us += open_us;
    ASSERT_TRUE(breaker_.admit());
    breaker_.fail();
    EXPECT_EQ(breaker_.remaining_us(), next_us);
    open_us = next_us;
  }
  clock_.time_us += open_us;
  ASSERT_TRUE(breaker_.admit());
  breaker_.succeed();
  fail_times(3);
  EXPECT_EQ(breaker_.remaining_us(), 1000) << "a success forgets how long it was open";
}

TEST_F(CircuitBreakerTest, ACallThatWasStoppedLeavesTheTryToTheNext) {
  fail_times(3);
  clock_.time_us = 1000;
  ASSERT_TRUE(breaker_.admit());
  breaker_.give_up();
  EXPECT_TRUE(breaker_.is_open());
  EXPECT_TRUE(breaker_.admit());
}

TEST_F(CircuitBreakerTest, CallsThatWereOnTheirWayDoNotProlongIt) {
  fail_times(3);
  breaker_.fail();
  breaker_.fail();
  EXPECT_EQ(breaker_.remaining_us(), 1000);
}

}  // namespace
}  // namespace sibyl::encoder
