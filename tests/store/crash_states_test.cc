// Every state that a crash can leave: a script runs on a file system that dies at its n-th call,
// for every n, and forgets, tears or reorders what was not synced. Whatever is left must open, with
// every acknowledged change and nothing that was never asked for.

#include <gtest/gtest.h>

#include "crash_workload.h"

namespace sibyl::store {
namespace {

constexpr size_t kBatches = 16;
constexpr uint64_t kSeedsEnd = 7;  ///< seeds from 1
constexpr uint64_t kFaultSeed = 11;
constexpr uint64_t kFaultSeedsEnd = 13;

/// Half of the scripts write while seals, merges and builds write their files.
std::vector<Step> steps_of(uint64_t seed) {
  return make_steps(seed, kBatches, seed % 2 == 0);
}

uint64_t count_calls(uint64_t seed) {
  CrashFileSystem files;
  Workload(files, false).run(steps_of(seed));
  return files.calls();
}

TEST(States, AreAtLeastTenThousand) {
  uint64_t states = 0;
  for (uint64_t seed = 1; seed < kSeedsEnd; ++seed) {
    states += 4 * count_calls(seed);
  }
  for (uint64_t seed = kFaultSeed; seed < kFaultSeedsEnd; ++seed) {
    states += 2 * count_calls(seed);
  }
  EXPECT_GE(states, 10'000U);
}

class CrashStates : public testing::TestWithParam<std::tuple<CrashKind, uint64_t>> {};

TEST_P(CrashStates, NoAcknowledgedChangeIsLostAndEveryStartSucceeds) {
  const auto [kind, seed] = GetParam();
  const std::vector<Step> steps = steps_of(seed);
  uint64_t calls = 0;
  {
    CrashFileSystem files;
    Workload workload(files, false);
    ASSERT_TRUE(workload.run(steps).in_flight.empty());
    ASSERT_TRUE(workload.shows_what_was_acknowledged());
    calls = files.calls();
  }
  ASSERT_GT(calls, 200U);
  for (uint64_t call = 1; call <= calls + 1; ++call) {
    SCOPED_TRACE(fmt::format("the machine died at call {} of {}", call, calls));
    CrashFileSystem files;
    files.stop_at(call);
    const Known known = Workload(files, false).run(steps);
    files.crash(kind, seed * 1000 + call);
    if (call % 3 == 0) {
      // The next start dies too, somewhere in its recovery.
      files.stop_at(files.calls() + 1 + call % 17);
      static_cast<void>(Database::open("/data", crash_options(), files).has_value());
      files.crash(kind, seed * 1000 + call + 1);
    }
    check_state(files, known, call);
    if (HasFatalFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(KindsAndSeeds, CrashStates,
                         testing::Combine(testing::Values(CrashKind::Kept, CrashKind::Lost,
                                                          CrashKind::Torn, CrashKind::Zeroed),
                                          testing::Range<uint64_t>(1, kSeedsEnd)));

class FaultStates : public testing::TestWithParam<std::tuple<bool, uint64_t>> {};

// A disk that fails one call, or is full from one call on: what was refused is not shown, what was
// acknowledged stays, and the next start finds it.
TEST_P(FaultStates, AnyFailingCallLosesNothing) {
  const auto [full, seed] = GetParam();
  const std::vector<Step> steps = steps_of(seed);
  uint64_t calls = 1;
  for (uint64_t call = 0; call <= calls; ++call) {
    SCOPED_TRACE(fmt::format("call {} of {} fails", call, calls));
    CrashFileSystem files;
    if (call > 0) {
      full ? files.fill_at(call) : files.fail_at(call);
    }
    Known known;
    {
      Workload workload(files, true);
      known = workload.run(steps);
      ASSERT_TRUE(workload.shows_what_was_acknowledged());
    }
    if (call == 0) {
      calls = files.calls();
      ASSERT_GT(calls, 200U);
    }
    files.free_space();
    check_state(files, known, call);
    if (HasFatalFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(KindsAndSeeds, FaultStates,
                         testing::Combine(testing::Bool(),
                                          testing::Range(kFaultSeed, kFaultSeedsEnd)));

}  // namespace
}  // namespace sibyl::store
