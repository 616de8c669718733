#include "job/runner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/json.h"

namespace sibyl::job {
namespace {

// A stand-in for `sibyl`: a script that is called as `PROGRAM step NAME --workspace DIR`.
class Runner : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(base::replace_file(path("pairs.jsonl"), "{\"question\":\"q\",\"answer\":\"a\"}\n"));
  }
  std::string path(const std::string& name) const { return base::join_path(folder_.path(), name); }
  void program(const std::string& script) {
    ASSERT_TRUE(base::replace_file(path("program"), "#!/bin/sh\n" + script));
    ASSERT_EQ(::chmod(path("program").c_str(), 0755), 0);
  }
  std::unique_ptr<JobRunner> open() {
    auto runner = JobRunner::open({path("jobs"), path("program"), "", 2});
    EXPECT_TRUE(runner) << runner.error().message;
    return std::move(*runner);
  }
  base::Json job() const {
    return {
        {"kind", "supervised"}, {"name", "helpdesk"}, {"data", {{"pairs", path("pairs.jsonl")}}}};
  }
  static JobInfo wait(const JobRunner& runner, const std::string& id, JobState state) {
    const int64_t end_us = base::system_clock().steady_us() + 30'000'000;
    JobInfo info;
    do {
      info = *runner.find(id);
      uint64_t offset = UINT64_MAX;
      static_cast<void>(runner.events(id, offset, 10));
    } while (info.state != state && base::system_clock().steady_us() < end_us);
    EXPECT_EQ(state_name(info.state), state_name(state)) << info.error;
    return info;
  }
  base::TemporaryDirectory folder_;
};

TEST_F(Runner, RunsEveryStepInOrderAndKeepsTheHistory) {
  program(
      "echo \"$2\"\necho \"{\\\"step\\\":\\\"$2\\\",\\\"event\\\":\\\"start\\\"}\" >> "
      "$4/events.jsonl\n"
      "mkdir -p $4/report\nif [ $2 = publish ]; then echo '{\"model\":\"helpdesk@1\"}' > "
      "$4/report/publish.json; fi\n");
  std::string id;
  {
    const auto runner = open();
    const auto submitted = runner->submit(job());
    ASSERT_TRUE(submitted) << submitted.error().message;
    id = *submitted;
    EXPECT_TRUE(id.starts_with("helpdesk-2")) << id;
    const JobInfo info = wait(*runner, id, JobState::Done);
    EXPECT_EQ(info.model, "helpdesk@1");
    EXPECT_EQ(*runner->log(id), "prepare\ntrain\nevaluate\npublish\n");
    uint64_t offset = 0;
    EXPECT_EQ(runner->events(id, offset, 0)->size(), 4U);
    EXPECT_TRUE(runner->events(id, offset, 0)->empty());
  }
  const auto again = open();
  ASSERT_EQ(again->list().size(), 1U);
  EXPECT_EQ(again->find(id)->state, JobState::Done);
}

TEST_F(Runner, AFailedStepEndsTheJobWithItsError) {
  program(
      "echo '{\"step\":\"prepare\",\"event\":\"end\",\"status\":65,\"error\":\"line 3 is wrong\"}' "
      ">> $4/events.jsonl\nexit 65\n");
  const auto runner = open();
  const auto id = runner->submit(job());
  ASSERT_TRUE(id);
  const JobInfo info = wait(*runner, *id, JobState::Failed);
  EXPECT_EQ(info.step, "prepare");
  EXPECT_EQ(info.error, "line 3 is wrong");
}

TEST_F(Runner, AnInterruptedJobGoesOnWhenResumed) {
  program("if [ $2 = train ] && [ ! -f $4/seen ]; then touch $4/seen; exit 75; fi\n");
  const auto runner = open();
  const auto id = runner->submit(job());
  ASSERT_TRUE(id);
  wait(*runner, *id, JobState::Interrupted);
  ASSERT_TRUE(runner->resume(*id));
  wait(*runner, *id, JobState::Done);
  EXPECT_FALSE(runner->resume(*id));  // nothing is left to do
}

TEST_F(Runner, CancelPassesTheSignalOn) {
  program("trap 'echo caught; exit 75' TERM\necho ready\nwhile :; do sleep 0.01; done\n");
  const auto runner = open();
  const auto id = runner->submit(job());
  ASSERT_TRUE(id);
  const auto second = runner->submit(job());
  ASSERT_TRUE(second);
  while (runner->log(*id)->empty()) {
    uint64_t offset = UINT64_MAX;
    static_cast<void>(runner->events(*id, offset, 10));
  }
  EXPECT_TRUE(runner->cancel(*second));  // waits: cancelled at once
  EXPECT_EQ(runner->find(*second)->state, JobState::Cancelled);
  ASSERT_TRUE(runner->cancel(*id));
  wait(*runner, *id, JobState::Cancelled);
  EXPECT_NE(runner->log(*id)->find("caught"), std::string::npos);
  EXPECT_FALSE(runner->cancel(*id));
}

// The runner goes away as a process does on SIGTERM: the step is told, and can be resumed later.
TEST_F(Runner, EndingTheRunnerInterruptsTheJob) {
  program("trap 'exit 75' TERM\necho ready\nwhile :; do sleep 0.01; done\n");
  std::string id;
  {
    const auto runner = open();
    id = *runner->submit(job());
    while (runner->log(id)->empty()) {
      uint64_t offset = UINT64_MAX;
      static_cast<void>(runner->events(id, offset, 10));
    }
  }
  EXPECT_EQ(open()->find(id)->state, JobState::Interrupted);
}

// What a process that was killed leaves behind.
TEST_F(Runner, AJobThatWasRunningAtAKillIsInterrupted) {
  program("exit 0\n");
  std::string id;
  {
    const auto runner = open();
    id = *runner->submit(job());
    wait(*runner, id, JobState::Done);
  }
  const std::string state = path("jobs/" + id + "/state.json");
  std::string text = *base::read_file(state);
  text.replace(text.find("\"done\""), 6, "\"running\"");
  ASSERT_TRUE(base::replace_file(state, text));
  EXPECT_EQ(open()->find(id)->state, JobState::Interrupted);
}

TEST_F(Runner, TheQueueIsBoundedAndWrongJobsAreRefused) {
  program("trap 'exit 75' TERM\nwhile :; do sleep 0.01; done\n");
  const auto runner = open();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(runner->submit(job()));
  }
  Result<std::string> last = std::string();
  for (int i = 0; i < 3 && last; ++i) {
    last = runner->submit(job());
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, Code::ResourceExhausted);
  base::Json wrong = job();
  wrong["data"]["pairs"] = "/no/such/file";
  EXPECT_EQ(runner->submit(wrong).error().code, Code::NotFound);
  wrong = job();
  wrong["kinds"] = 1;
  EXPECT_EQ(runner->submit(wrong).error().code, Code::InvalidConfig);
  EXPECT_EQ(runner->find("none").error().code, Code::NotFound);
}

TEST_F(Runner, ADamagedStateIsLeftOutOfTheHistory) {
  program("exit 0\n");
  ASSERT_TRUE(base::real_file_system().create_directories(path("jobs/broken")));
  ASSERT_TRUE(base::replace_file(path("jobs/broken/state.json"), "{"));
  EXPECT_TRUE(open()->list().empty());
}

}  // namespace
}  // namespace sibyl::job
