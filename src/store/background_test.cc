#include "store/internal/background.h"

#include <atomic>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

namespace sibyl::store {
namespace {

struct CountingWorker final : Worker {
  bool work(WorkKind kind, std::stop_token stop) override {
    done += kind == WorkKind::Seal ? "s" : "m";
    return on_work && on_work(stop);
  }
  std::string done;
  std::function<bool(std::stop_token)> on_work;
};

TEST(BackgroundWork, WithoutThreadsItRunsOnlyWhenAsked) {
  BackgroundWork background(0);
  const auto worker = std::make_shared<CountingWorker>();
  EXPECT_FALSE(background.run_one());
  background.wake(WorkKind::Maintain, worker);
  background.wake(WorkKind::Seal, worker);
  background.wake(WorkKind::Maintain, worker);  // waits already
  EXPECT_EQ(worker->done, "");
  EXPECT_TRUE(background.run_one());
  EXPECT_EQ(worker->done, "s");  // writers may wait for it
  background.settle();
  EXPECT_EQ(worker->done, "sm");
  EXPECT_FALSE(background.run_one());
}

TEST(BackgroundWork, WorkThatHasMoreOrIsWokenWhileItRunsGoesOn) {
  BackgroundWork background(0);
  const auto worker = std::make_shared<CountingWorker>();
  int left = 2;
  worker->on_work = [&](const std::stop_token&) { return --left > 0; };
  background.wake(WorkKind::Maintain, worker);
  background.settle();
  EXPECT_EQ(worker->done, "mm");
  left = 2;
  worker->on_work = [&](const std::stop_token&) {
    if (--left > 0) {
      background.wake(WorkKind::Maintain, worker);
    }
    return false;
  };
  background.wake(WorkKind::Maintain, worker);
  background.settle();
  EXPECT_EQ(worker->done, "mmmm");
}

TEST(BackgroundWork, OfWhoIsGoneIsForgotten) {
  BackgroundWork background(0);
  auto worker = std::make_shared<CountingWorker>();
  background.wake(WorkKind::Seal, worker);
  worker.reset();
  background.settle();
  EXPECT_FALSE(background.run_one());
}

TEST(BackgroundWork, ASealDoesNotWaitForALongBuild) {
  BackgroundWork background(1);
  const auto builder = std::make_shared<CountingWorker>();
  const auto sealer = std::make_shared<CountingWorker>();
  std::atomic<bool> sealed = false;
  builder->on_work = [&](const std::stop_token& stop) {
    while (!sealed && !stop.stop_requested()) {
      std::this_thread::yield();
    }
    return false;
  };
  sealer->on_work = [&](const std::stop_token&) {
    sealed = true;
    return false;
  };
  background.wake(WorkKind::Maintain, builder);
  background.wake(WorkKind::Seal, sealer);
  background.settle();
  EXPECT_EQ(builder->done + sealer->done, "ms");
}

TEST(BackgroundWork, StoppingEndsWhatRunsAndDropsWhatWaits) {
  BackgroundWork background(1);
  const auto first = std::make_shared<CountingWorker>();
  const auto second = std::make_shared<CountingWorker>();
  std::atomic<bool> started = false;
  first->on_work = [&](const std::stop_token& stop) {
    started = true;
    while (!stop.stop_requested()) {
      std::this_thread::yield();
    }
    return true;
  };
  background.wake(WorkKind::Maintain, first);
  background.wake(WorkKind::Maintain, second);
  while (!started) {
    std::this_thread::yield();
  }
  background.stop();
  EXPECT_EQ(first->done, "m");
  EXPECT_EQ(second->done, "");
  background.wake(WorkKind::Maintain, second);
  EXPECT_FALSE(background.run_one());
}

TEST(BackgroundWork, WhereSomeThreadsCannotBeStartedTheOthersDoItAll) {
  for (const size_t startable : {0U, 1U, 2U}) {
    size_t started = 0;
    BackgroundWork background(3, [&](std::function<void()> work) {
      if (started == startable) {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      }
      ++started;
      return std::jthread(std::move(work));
    });
    const auto worker = std::make_shared<CountingWorker>();
    background.wake(WorkKind::Maintain, worker);
    background.settle();
    background.wake(WorkKind::Seal, worker);
    background.settle();
    EXPECT_EQ(worker->done, "ms") << startable;
  }
}

}  // namespace
}  // namespace sibyl::store
