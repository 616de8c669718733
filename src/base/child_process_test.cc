#include "base/child_process.h"

#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/file_system.h"

namespace sibyl::base {
namespace {

ChildOptions shell(const std::string& script) {
  ChildOptions options;
  options.arguments = {"sh", "-c", script};
  return options;
}

TEST(RunChild, GivesOutputErrorsAndStatus) {
  const auto outcome = run_child(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_status, 3);
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->errors, "err\n");
}

TEST(RunChild, InputLargerThanAPipeComesBackWhole) {
  ChildOptions options;
  options.arguments = {"cat"};
  options.input = std::string(3 << 20, 'x');
  const auto outcome = run_child(options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->output.size(), options.input.size());
}

// Arguments are never read by a shell.
TEST(RunChild, ArgumentsArriveAsTheyAre) {
  ChildOptions options;
  options.arguments = {"printf", "%s|", "$(id)", "a b", "'\"`", ""};
  EXPECT_EQ(run_child(options)->output, "$(id)|a b|'\"`||");
}

TEST(RunChild, AMissingProgramIsNotFound) {
  ChildOptions options;
  options.arguments = {"no-such-program-here"};
  const auto outcome = run_child(options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::NotFound);
  options.arguments = {"/no/such/program"};
  EXPECT_EQ(run_child(options).error().code, Code::NotFound);
}

TEST(RunChild, OneThatHangsIsStoppedWithEverythingItStarted) {
  ChildOptions options = shell("sleep 100 & sleep 100");
  options.timeout_ms = 100;
  const int64_t start_us = system_clock().steady_us();
  const auto outcome = run_child(options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::DeadlineExceeded);
  EXPECT_LT(system_clock().steady_us() - start_us, 20'000'000);
}

TEST(RunChild, AStopEndsItWithEverythingItStarted) {
  std::stop_source stop;
  ChildOptions options = shell("sleep 100 & wait");
  options.stop = stop.get_token();
  const int64_t start_us = system_clock().steady_us();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  EXPECT_EQ(run_child(options).error().code, Code::Interrupted);
  stopper.join();
  EXPECT_LT(system_clock().steady_us() - start_us, 5'000'000);
  EXPECT_EQ(run_child(options).error().code, Code::Interrupted) << "a stop of before counts too";
}

TEST(RunChild, ALeftoverThatHoldsThePipeDoesNotKeepUsWaiting) {
  const int64_t start_us = system_clock().steady_us();
  const auto outcome = run_child(shell("sleep 100 & echo done"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "done\n");
  EXPECT_LT(system_clock().steady_us() - start_us, 20'000'000);
}

TEST(RunChild, EndlessOutputIsTooLarge) {
  ChildOptions options;
  options.arguments = {"yes"};
  options.output_bytes_max = 1 << 20;
  const auto outcome = run_child(options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::TooLarge);
}

TEST(RunChild, EndlessErrorsKeepTheLastPart) {
  const auto outcome = run_child(shell("yes | head -c 1000000 >&2; echo last >&2"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->errors.size(), size_t{64} << 10);
  EXPECT_TRUE(outcome->errors.ends_with("last\n"));
}

TEST(RunChild, ASignalIsSeenInTheStatus) {
  EXPECT_EQ(run_child(shell("kill -9 $$"))->exit_status, 128 + SIGKILL);
}

TEST(RunChild, EnvironmentAndFolderAreSet) {
  const TemporaryDirectory folder;
  ChildOptions options = shell("echo $SIBYL_TEST_VALUE; pwd");
  options.environment["SIBYL_TEST_VALUE"] = "a value";
  options.folder = folder.path();
  EXPECT_EQ(run_child(options)->output, "a value\n" + folder.path() + "\n");
  options.folder = "/no/such/folder";
  EXPECT_FALSE(run_child(options));
}

TEST(RunChild, NoDescriptorOfOursIsOpenInTheChild) {
  const TemporaryDirectory folder;
  const auto file = real_file_system().create(join_path(folder.path(), "x"));
  ASSERT_TRUE(file);
  // 0, 1, 2 and the one that ls itself opens.
  EXPECT_EQ(run_child(shell("ls /proc/self/fd | wc -l"))->output, "4\n");
}

TEST(ChildProcess, RunsBesideUsAndWritesItsLog) {
  const TemporaryDirectory folder;
  const std::string log = join_path(folder.path(), "log.txt");
  auto child = ChildProcess::start(shell("trap 'echo stopped; exit 75' TERM; echo ready; "
                                         "while :; do sleep 0.01; done"),
                                   log);
  ASSERT_TRUE(child) << child.error().message;
  while (read_file(log).value_or("").empty()) {
    ASSERT_FALSE((*child)->wait_exit_status(5));
  }
  (*child)->signal(SIGTERM);
  EXPECT_EQ((*child)->wait_exit_status(-1), 75);
  EXPECT_EQ((*child)->wait_exit_status(0), 75);  // the answer stays
  const std::string text = *read_file(log);      // the shell may add a line about its own child
  EXPECT_TRUE(text.starts_with("ready\n") && text.ends_with("stopped\n")) << text;
}

TEST(ChildProcess, DiesWithItsOwner) {
  int64_t process = 0;
  {
    auto child = ChildProcess::start(shell("sleep 100"), "/dev/null");
    ASSERT_TRUE(child);
    process = (*child)->process_id();
    EXPECT_EQ(::kill(static_cast<pid_t>(process), 0), 0);
  }
  EXPECT_NE(::kill(static_cast<pid_t>(process), 0), 0);
}

TEST(OwnProgramPath, IsThisTest) {
  EXPECT_TRUE(own_program_path().ends_with("base_test")) << own_program_path();
}

}  // namespace
}  // namespace sibyl::base
