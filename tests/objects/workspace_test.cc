#include "job/workspace.h"

#include <cstdlib>
#include <thread>

#include <sys/stat.h>

#include "job/internal/workspace_mirror.h"
#include "job/step.h"
#include "store_double.h"

namespace sibyl::job {
namespace {

/// Steps over a workspace in the double. `machine` chooses where temporary files lie, as another
/// node would.
class StoreWorkspaceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { double_ = new StoreDouble(); }
  static void TearDownTestSuite() {
    delete double_;
    double_ = nullptr;
  }
  void SetUp() override {
    ::setenv("AWS_ENDPOINT_URL", double_->url().c_str(), 1);
    ::setenv("AWS_REGION", "eu-test-1", 1);
    ::setenv("AWS_ACCESS_KEY_ID", "test-key", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "test-secret", 1);
    double_->control({{"faults", base::Json::array()}});
    uri_ = std::string("s3://bucket/runs/") +
           testing::UnitTest::GetInstance()->current_test_info()->name();
    machine("first");
  }
  void TearDown() override { ::unsetenv("TMPDIR"); }

  void machine(const std::string& name) {
    const std::string folder = path(name);
    ASSERT_TRUE(base::real_file_system().create_directories(folder));
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  std::string path(const std::string& name) const { return base::join_path(folder_.path(), name); }
  std::string key(const std::string& relative) const {
    return uri_.substr(std::string("s3://").size()) + "/" + relative;
  }
  bool in_store(const std::string& relative) const {
    return double_->control()["objects"].contains(key(relative));
  }
  void put(const std::string& relative, const std::string& text) const {
    double_->control({{"put", {{key(relative), text}}}});
  }
  Result<void> run(const std::string& step, const StepContext& context = {}) const {
    auto space = Workspace::open(uri_);
    EXPECT_TRUE(space) << space.error().message;
    return run_step(step, *space, context);
  }
  StepContext with_trainer(const std::string& script) const {
    const std::string trainer = path("trainer");
    EXPECT_TRUE(base::replace_file(trainer, "#!/bin/sh\n" + script));
    EXPECT_EQ(::chmod(trainer.c_str(), 0755), 0);
    StepContext context;
    context.trainer_program = trainer;
    return context;
  }
  void prepare() {
    std::string lines;
    for (int i = 0; i < 30; ++i) {
      lines += fmt::format(
          "{{\"question\":\"What about number {0}?\",\"answer\":\"Number {0} is explained here. It "
          "comes after the one before it.\"}}\n",
          i);
    }
    put("input/pairs/pairs.jsonl", lines);
    StepContext context;
    context.job_file = base::dump_json({{"kind", "supervised"},
                                        {"name", "tiny"},
                                        {"base", "static_custom"},
                                        {"data", {{"pairs", "input/pairs/pairs.jsonl"}}}});
    const auto done = run("prepare", context);
    ASSERT_TRUE(done) << done.error().message;
  }

  static StoreDouble* double_;
  std::string uri_;
  base::TemporaryDirectory folder_;
};
StoreDouble* StoreWorkspaceTest::double_ = nullptr;

TEST_F(StoreWorkspaceTest, AStepOnAnotherMachineFindsWhatTheLastOneMade) {
  prepare();
  EXPECT_TRUE(in_store("done/prepare"));
  EXPECT_TRUE(in_store("data/passages.jsonl"));
  machine("second");
  const auto done = run("train", with_trainer("test -s $2/data/passages.jsonl || exit 1\n"
                                              "test ! -e $2/input || exit 1\n"
                                              "mkdir $2/model; echo w > $2/model/weights\n"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(in_store("model/weights"));
  EXPECT_TRUE(in_store("done/train"));
  machine("third");
  const auto again = run("train", with_trainer("exit 1\n"));
  EXPECT_TRUE(again) << "a finished step does nothing";
}

TEST_F(StoreWorkspaceTest, AnInterruptedTrainingGoesOnOnAnotherMachine) {
  prepare();
  std::stop_source stop;
  const std::string started = path("started");
  StepContext context = with_trainer(
      "mkdir -p $2/checkpoints; trap 'echo half > $2/checkpoints/state.safetensors; exit 75' TERM\n"
      "touch " +
      started + "\nwhile :; do sleep 0.01; done\n");
  context.stop = stop.get_token();
  std::thread stopper([&] {
    for (int i = 0; i < 1000 && !base::real_file_system().exists(started); ++i) {
      base::sleep_until_stop({}, 0.01);
    }
    stop.request_stop();
  });
  EXPECT_EQ(run("train", context).error().code, Code::Interrupted);
  stopper.join();
  EXPECT_TRUE(in_store("checkpoints/state.safetensors"));
  EXPECT_FALSE(in_store("done/train"));
  machine("second");
  const auto done =
      run("train", with_trainer("grep -q half $2/checkpoints/state.safetensors || exit 1\n"
                                "mkdir $2/model; echo whole > $2/model/weights\n"
                                "rm $2/checkpoints/state.safetensors\n"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(in_store("model/weights"));
  EXPECT_FALSE(in_store("checkpoints/state.safetensors"));
}

TEST_F(StoreWorkspaceTest, CheckpointsAreSavedWhileAStepRuns) {
  prepare();
  auto space = Workspace::open(uri_);
  ASSERT_TRUE(space);
  ASSERT_TRUE(space->fetch("train", {}));
  ASSERT_TRUE(base::real_file_system().create_directories(space->file("checkpoints")));
  ASSERT_TRUE(base::replace_file(space->file("checkpoints/state.safetensors"), "now"));
  ASSERT_TRUE(base::replace_file(space->file("checkpoints/x.tmp"), "being written"));
  ASSERT_TRUE(base::replace_file(space->file("model"), "later"));
  ASSERT_TRUE(space->save_progress({}));
  EXPECT_TRUE(in_store("checkpoints/state.safetensors"));
  EXPECT_FALSE(in_store("checkpoints/x.tmp"));
  EXPECT_FALSE(in_store("model"));
  const size_t before = double_->control()["log"].size();
  ASSERT_TRUE(space->save_progress({}));
  EXPECT_EQ(double_->control()["log"].size(), before) << "what has not changed is not sent again";
}

TEST_F(StoreWorkspaceTest, AStepIsNotDoneBeforeItsFilesAreInTheStore) {
  prepare();
  double_->fail_next({{"method", "PUT"}, {"match", "model/"}, {"count", 100}, {"status", 403}});
  const std::string script = "mkdir -p $2/model; echo w > $2/model/weights\n";
  EXPECT_EQ(run("train", with_trainer(script)).error().code, Code::PermissionDenied);
  EXPECT_FALSE(in_store("done/train"));
  double_->control({{"faults", base::Json::array()}});
  EXPECT_TRUE(run("train", with_trainer(script)));
  const auto log = double_->control()["log"];
  EXPECT_EQ(log.back(), "PUT " + key("done/train"));
}

// The step itself has ended well; what hangs is the way to the store.
TEST_F(StoreWorkspaceTest, AStopEndsTheLastUploadAndIsNoFailure) {
  prepare();
  const std::string script = "mkdir -p $2/model; echo w > $2/model/weights\n";
  double_->fail_next({{"method", "PUT"}, {"match", "model/"}, {"count", 100}, {"hang_s", 20}});
  std::stop_source stop;
  StepContext context = with_trainer(script);
  context.stop = stop.get_token();
  context.save_seconds = 0.3;
  std::thread stopper([&] {
    const auto is_uploading = [&] {
      const base::Json known = double_->control();
      for (const base::Json& line : known["log"]) {
        if (line == "PUT " + key("model/weights")) {
          return true;
        }
      }
      return false;
    };
    while (!is_uploading()) {
      base::sleep_until_stop({}, 0.01);
    }
    stop.request_stop();
  });
  const int64_t start_us = base::system_clock().steady_us();
  const auto stopped = run("train", context);
  stopper.join();
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
  EXPECT_LT(base::system_clock().steady_us() - start_us, 10'000'000);
  EXPECT_FALSE(in_store("done/train"));
  const std::string events = double_->control()["texts"][key("events.jsonl")];
  EXPECT_NE(events.find("\"event\":\"end\",\"status\":75"), std::string::npos)
      << "the store knows why it ended: " << events;
  double_->control({{"faults", base::Json::array()}});
  EXPECT_TRUE(run("train", with_trainer(script)));
}

TEST_F(StoreWorkspaceTest, AStoreThatFailsBehindAStopIsNoFailureOfTheJob) {
  prepare();
  std::stop_source stop;
  const std::string started = path("started");
  // It notices no stop, as one that has just ended.
  StepContext context =
      with_trainer("trap 'mkdir $2/model; echo w > $2/model/weights; exit 0' TERM\ntouch " +
                   started + "\nwhile :; do sleep 0.01; done\n");
  context.stop = stop.get_token();
  double_->fail_next({{"method", "PUT"}, {"match", "model/"}, {"count", 100}, {"status", 403}});
  std::thread stopper([&] {
    for (int i = 0; i < 1000 && !base::real_file_system().exists(started); ++i) {
      base::sleep_until_stop({}, 0.01);
    }
    stop.request_stop();
  });
  const auto stopped = run("train", context);
  stopper.join();
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
  EXPECT_NE(stopped.error().message.find("403"), std::string::npos) << stopped.error().message;
}

TEST_F(StoreWorkspaceTest, AStoreThatIsAwayIsWaitedFor) {
  prepare();
  const auto mirror = internal::WorkspaceMirror::open(uri_, double_->options());
  ASSERT_TRUE(mirror);
  double_->fail_next({{"count", 9}, {"status", 503}});
  const auto fetched = (*mirror)->fetch("train", {});
  ASSERT_TRUE(fetched) << fetched.error().message;
  ASSERT_TRUE(base::replace_file(base::join_path((*mirror)->folder(), "report/x"), "x"));
  double_->fail_next({{"count", 9}, {"status", 503}});
  const auto saved = (*mirror)->save("train", {});
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_TRUE(in_store("report/x"));
}

TEST_F(StoreWorkspaceTest, KeysThatAreNoPathsAreRefused) {
  for (const char* const bad : {"../../outside", "a/../../b", "a//b", "./c"}) {
    put(bad, "x");
    const auto done = run("prepare");
    EXPECT_EQ(done.error().code, Code::InvalidData) << bad;
    uri_ += "x";
  }
  EXPECT_FALSE(base::real_file_system().exists(path("outside")));
}

TEST_F(StoreWorkspaceTest, OneProcessOfAMachineHasIt) {
  const auto first = Workspace::open(uri_);
  ASSERT_TRUE(first);
  EXPECT_EQ(Workspace::open(uri_).error().code, Code::Unavailable);
  EXPECT_TRUE(Workspace::open(uri_ + "-other"));
}

TEST_F(StoreWorkspaceTest, WrongAddressesAndMissingKeysAreNamed) {
  EXPECT_EQ(Workspace::open("s3://bucket").error().code, Code::InvalidArgument);
  EXPECT_EQ(Workspace::open("gs://bucket/x").error().code, Code::InvalidArgument);
  ::unsetenv("AWS_ACCESS_KEY_ID");
  const auto without = Workspace::open(uri_);
  EXPECT_EQ(without.error().code, Code::InvalidConfig);
  EXPECT_NE(without.error().message.find("AWS_ACCESS_KEY_ID"), std::string::npos);
}

}  // namespace
}  // namespace sibyl::job
