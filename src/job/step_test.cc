#include "job/step.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file_system.h"
#include "base/json.h"
#include "job/plan.h"

namespace sibyl::job {
namespace {

class StepTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string lines;
    for (int i = 0; i < 30; ++i) {
      lines += fmt::format(
          "{{\"question\":\"What about number {0}?\",\"answer\":\"Number {0} is explained here. It "
          "comes after the one before it.\"}}\n",
          i);
    }
    ASSERT_TRUE(base::replace_file(path("pairs.jsonl"), lines));
  }
  std::string path(const std::string& name) const { return base::join_path(folder_.path(), name); }
  base::Json job() const {
    return {{"kind", "supervised"},
            {"name", "tiny"},
            {"base", "static_custom"},
            {"data", {{"pairs", path("pairs.jsonl")}}}};
  }
  Workspace workspace() {
    auto space = Workspace::open(path("workspace"));
    EXPECT_TRUE(space);
    EXPECT_TRUE(space->write_job({{"format", 1}, {"job", job()}}));
    return std::move(*space);
  }
  base::TemporaryDirectory folder_;
};

TEST_F(StepTest, PrepareWritesWhatTheFormatPromises) {
  Workspace space = workspace();
  const auto done = run_step("prepare", space, {});
  ASSERT_TRUE(done) << done.error().message;
  for (const char* const name :
       {"data/passages.jsonl", "data/pairs.jsonl", "data/cold.jsonl", "data/valid.jsonl",
        "data/documents.jsonl", "data/questions.jsonl", "data/tokenizer.json",
        "data/statistics.json", "done/prepare", "events.jsonl"}) {
    EXPECT_TRUE(base::real_file_system().exists(space.file(name))) << name;
  }
  const auto written = space.job();
  ASSERT_TRUE(written);
  EXPECT_EQ((*written)["base"]["kind"], "static");
  EXPECT_EQ((*written)["train"].size(), train_parameters().size());
  EXPECT_EQ((*written)["reasons"].size(), train_parameters().size());
  EXPECT_EQ((*written)["train"]["stages"], "cold,labels");
}

TEST_F(StepTest, TheJobMayComeWithTheCall) {
  auto space = Workspace::open(path("workspace"));
  ASSERT_TRUE(space);
  const auto without = run_step("prepare", *space, {});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Code::NotFound);
  EXPECT_NE(without.error().message.find("SIBYL_JOB"), std::string::npos);

  StepContext context;
  context.job_file = base::dump_json(job());
  const auto done = run_step("prepare", *space, context);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ((*space->job())["name"], "tiny");
  // A finished prepare is not disturbed by another job.
  context.job_file = "{";
  EXPECT_TRUE(run_step("prepare", *space, context));
}

TEST_F(StepTest, AJobOfTheCallIsNamedWhenItIsWrong) {
  Workspace space = workspace();
  StepContext context;
  context.job_file = R"({"kind": "supervised", "nmae": "x"})";
  EXPECT_EQ(run_step("prepare", space, context).error().code, Code::InvalidConfig);
  context.job_file = "{";
  const auto done = run_step("prepare", space, context);
  EXPECT_EQ(done.error().code, Code::InvalidConfig);
  EXPECT_EQ(done.error().field, "SIBYL_JOB");
  context.job_file = "  \n";  // blank: the workspace's own
  EXPECT_TRUE(run_step("prepare", space, context));
}

TEST_F(StepTest, AFinishedStepDoesNothingWhenRunAgain) {
  Workspace space = workspace();
  ASSERT_TRUE(run_step("prepare", space, {}));
  const std::string events = *base::read_file(space.file("events.jsonl"));
  ASSERT_TRUE(base::real_file_system().remove(path("pairs.jsonl")));
  EXPECT_TRUE(run_step("prepare", space, {}));
  EXPECT_EQ(*base::read_file(space.file("events.jsonl")), events);
}

TEST_F(StepTest, AnErrorStandsInTheEvents) {
  Workspace space = workspace();
  ASSERT_TRUE(base::real_file_system().remove(path("pairs.jsonl")));
  const auto done = run_step("prepare", space, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::NotFound);
  const std::string events = *base::read_file(space.file("events.jsonl"));
  EXPECT_NE(events.find("\"status\":66"), std::string::npos) << events;
  EXPECT_FALSE(space.done("prepare"));
}

TEST_F(StepTest, StepsComeInOrder) {
  Workspace space = workspace();
  EXPECT_EQ(run_step("train", space, {}).error().code, Code::FailedPrecondition);
  EXPECT_EQ(run_step("evaluate", space, {}).error().code, Code::FailedPrecondition);
  EXPECT_EQ(run_step("publish", space, {}).error().code, Code::FailedPrecondition);
  EXPECT_EQ(run_step("deploy", space, {}).error().code, Code::InvalidConfig);
  EXPECT_EQ(run_step("destroy", space, {}).error().code, Code::InvalidArgument);
  EXPECT_EQ(steps_of("supervised"),
            (std::vector<std::string>{"prepare", "train", "evaluate", "publish"}));
  EXPECT_EQ(steps_of("evaluate"), (std::vector<std::string>{"prepare", "evaluate"}));
}

// The trainer's exit code becomes the step's error, with what the trainer said.
TEST_F(StepTest, TheTrainersExitCodeIsPassedOn) {
  Workspace space = workspace();
  ASSERT_TRUE(run_step("prepare", space, {}));
  const std::string trainer = path("trainer");
  const auto with_script = [&](const std::string& script) {
    EXPECT_TRUE(base::replace_file(trainer, "#!/bin/sh\n" + script));
    EXPECT_EQ(::chmod(trainer.c_str(), 0755), 0);
    StepContext context;
    context.trainer_program = trainer;
    return run_step("train", space, context);
  };
  EXPECT_EQ(with_script("exit 75\n").error().code, Code::Interrupted);
  EXPECT_EQ(with_script("exit 69\n").error().code, Code::Unavailable);
  const auto said =
      with_script("echo '2026-11-30T15:04:05.123Z error train: no GPU here' >&2\nexit 69\n");
  EXPECT_EQ(said.error().message, "no GPU here");
  EXPECT_EQ(with_script("kill -9 $$\n").error().code, Code::Internal);
  EXPECT_TRUE(with_script("test $1 = --workspace && test $OMP_WAIT_POLICY = passive\n"));
}

TEST_F(StepTest, AStopRequestReachesTheTrainer) {
  Workspace space = workspace();
  ASSERT_TRUE(run_step("prepare", space, {}));
  const std::string trainer = path("trainer");
  ASSERT_TRUE(base::replace_file(trainer,
                                 "#!/bin/sh\ntrap 'touch $2/caught; exit 75' TERM\n"
                                 "while :; do sleep 0.01; done\n"));
  ASSERT_EQ(::chmod(trainer.c_str(), 0755), 0);
  std::stop_source stop;
  stop.request_stop();
  StepContext context;
  context.trainer_program = trainer;
  context.stop = stop.get_token();
  EXPECT_EQ(run_step("train", space, context).error().code, Code::Interrupted);
}

TEST_F(StepTest, AModelNameNeedsTheOwner) {
  auto space = Workspace::open(path("workspace"));
  base::Json named = job();
  named["base"] = "minilm";
  ASSERT_TRUE(space->write_job({{"format", 1}, {"job", named}}));
  const auto done = run_step("prepare", *space, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::Unavailable);
  EXPECT_NE(done.error().message.find("minilm"), std::string::npos);
}

TEST_F(StepTest, ThePlanSaysEveryParameterAndWhyAndWritesNothing) {
  const auto parsed = job_from_json(job(), "/");
  ASSERT_TRUE(parsed);
  const auto plan = plan_job(*parsed, {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->parameters.size(), train_parameters().size());
  EXPECT_EQ(plan->base_kind, "static");
  const std::string text = plan_to_text(*plan);
  EXPECT_NE(text.find("cold pairs before labels help"), std::string::npos) << text;
  EXPECT_TRUE(base::parse_json(plan_to_json(*plan)));
  EXPECT_EQ(base::real_file_system().list(folder_.path())->size(), 1U);  // pairs.jsonl alone
}

}  // namespace
}  // namespace sibyl::job
