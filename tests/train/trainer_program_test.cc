// The trainer program on tiny data of our own: what a job's step train does, from workspace to
// model.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>

#include "base/child_process.h"
#include "base/file_system.h"
#include "base/json.h"
#include "base/random.h"
#include "encoder/cpu_encoder.h"
#include "model/model_directory.h"
#include "text/tokenizer.h"

namespace sibyl {
namespace {

using base::Json;

const std::vector<std::string> kThings = {"tea",   "coffee", "bread", "rice", "soup",  "salt",
                                          "honey", "butter", "apple", "pear", "onion", "lemon"};
const std::vector<std::string> kActs = {"store", "heat", "cut"};

/// Passages "How to ACT THING …", each asked once for training and once, in other words, held out.
struct Kitchen {
  std::vector<std::string> passages;
  std::string passage_lines, pair_lines, cold_lines, valid_lines;
};

Kitchen make_kitchen() {
  Kitchen kitchen;
  for (const std::string& thing : kThings) {
    for (const std::string& act : kActs) {
      const size_t index = kitchen.passages.size();
      kitchen.passages.push_back("Guide to " + thing + "\nThis page says how to " + act + " " +
                                 thing + " at home.");
      const Json passage = {{"id", thing + "-" + act}, {"text", kitchen.passages.back()}};
      kitchen.passage_lines += base::dump_json(passage) + "\n";
      const Json pair = {{"question", "how do I " + act + " my " + thing}, {"passages", {index}}};
      kitchen.pair_lines += base::dump_json(pair) + "\n";
      const Json held_out = {{"question", "please " + act + " the " + thing},
                             {"passages", {index}}};
      kitchen.valid_lines += base::dump_json(held_out) + "\n";
      const Json cold = {{"question", act + " " + thing},
                         {"passage", index},
                         {"text", "This page says how to " + act + " " + thing}};
      kitchen.cold_lines += base::dump_json(cold) + "\n";
    }
  }
  return kitchen;
}

Json parameters(bool is_static) {
  return {{"stages", is_static ? "cold,labels" : "labels"},
          {"epochs", 2},
          {"cold_epochs", 2},
          {"learning_rate", is_static ? 1e-2 : 1e-3},
          {"cold_learning_rate", 1e-2},
          {"warmup_share", 0.1},
          {"final_share", 0.05},
          {"weight_decay", 0.01},
          {"gradient_norm_max", is_static ? 0.0 : 1.0},
          {"batch_passages", 6},
          {"batch_questions_max", 12},
          {"micro_batch_tokens", 64},
          {"question_tokens_max", 16},
          {"passage_tokens_max", 24},
          {"index_tokens_max", 32},
          {"scale", 20},
          {"symmetric", true},
          {"mask_margin", is_static ? -1.0 : 0.0},
          {"dropout", is_static ? 0.0 : 0.1},
          {"dimension", is_static ? 16 : 0},
          {"patience", 0},
          {"validate_every_steps", 0},
          {"budget_minutes", 0},
          {"seed", 3},
          {"threads", 1}};
}

/// A two-layer transformer of made-up weights.
void write_tiny_transformer(const std::string& folder, const std::string& tokenizer,
                            size_t vocabulary) {
  model::TransformerToWrite out;
  out.shape.family = "bert";
  out.shape.layers = 2;
  out.shape.hidden = 16;
  out.shape.heads = 2;
  out.shape.intermediate = 32;
  out.shape.vocabulary = vocabulary;
  out.shape.positions = 64;
  out.shape.token_types = 2;
  out.shape.activation = "gelu";
  out.shape.tokens_max = 32;
  out.pooling = {model::PoolingMode::Mean};
  base::Random random(5);
  for (const model::TransformerTensorName& name : model::transformer_file_names(out.shape)) {
    model::NamedTensor tensor{name.file_name, name.shape, {}};
    size_t count = 1;
    for (const uint64_t size : name.shape) {
      count *= size;
    }
    for (size_t i = 0; i < count; ++i) {
      const double middle = name.name.ends_with("norm.weight") ? 1.0 : 0.0;
      tensor.values.push_back(static_cast<float>(middle + 0.2 * random.normal()));
    }
    out.tensors.push_back(std::move(tensor));
  }
  ASSERT_TRUE(model::write_model_directory(folder, out, tokenizer, {}, {}));
}

class TrainerProgram : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }

  void make_workspace(bool is_static) {
    const Kitchen kitchen = make_kitchen();
    std::filesystem::create_directories(file("data"));
    ASSERT_TRUE(base::replace_file(file("data/passages.jsonl"), kitchen.passage_lines));
    ASSERT_TRUE(base::replace_file(file("data/pairs.jsonl"), kitchen.pair_lines));
    ASSERT_TRUE(base::replace_file(file("data/cold.jsonl"), kitchen.cold_lines));
    ASSERT_TRUE(base::replace_file(file("data/valid.jsonl"), kitchen.valid_lines));
    const std::vector<std::string_view> texts(kitchen.passages.begin(), kitchen.passages.end());
    const std::string tokenizer = text::learn_wordpiece_json(texts, 300);
    if (is_static) {
      ASSERT_TRUE(base::replace_file(file("data/tokenizer.json"), tokenizer));
    } else {
      const auto loaded = text::load_tokenizer_json(tokenizer);
      ASSERT_TRUE(loaded) << loaded.error().message;
      write_tiny_transformer(file("base"), tokenizer, (*loaded)->vocabulary_size());
    }
    job_ = {{"format", 1},
            {"kind", "supervised"},
            {"name", "kitchen"},
            {"base", {{"name", "tiny"}, {"kind", is_static ? "static" : "transformer"}}},
            {"device", "auto"},
            {"allow_cpu_fallback", true},
            {"test_mode", false},
            {"train", parameters(is_static)}};
    write_job();
  }
  void write_job() { ASSERT_TRUE(base::replace_file(file("job.json"), base::dump_json(job_))); }

  base::ChildOptions options() const {
    base::ChildOptions options;
    options.arguments = {SIBYL_TRAINER_PROGRAM, "--workspace", folder_.path()};
    options.timeout_ms = 60000;
    return options;
  }
  base::ChildOutcome run() {
    auto outcome = base::run_child(options());
    EXPECT_TRUE(outcome) << outcome.error().message;
    return *outcome;
  }
  Json report() const {
    const auto text = base::read_file(file("report/train.json"));
    EXPECT_TRUE(text);
    return *base::parse_json(*text);
  }
  std::string events() const { return base::read_file(file("events.jsonl")).value_or(""); }

  /// Starts the program, sends SIGTERM once it has done a step, and returns its status.
  int run_interrupted() {
    const size_t before = events().size();
    auto child = base::ChildProcess::start(options(), file("log.txt"));
    EXPECT_TRUE(child);
    for (int i = 0; i < 3000; ++i) {
      if (events().find("\"progress\"", before) != std::string::npos) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    (*child)->signal(SIGTERM);
    return (*child)->wait_exit_status(30000).value_or(-1);
  }

  base::TemporaryDirectory folder_;
  Json job_;
};

TEST_F(TrainerProgram, TrainsAStaticModelThatTheEncoderLoads) {
  make_workspace(true);
  job_["train"]["epochs"] = job_["train"]["cold_epochs"] = 20;
  write_job();
  const base::ChildOutcome outcome = run();
  ASSERT_EQ(outcome.exit_status, 0) << outcome.errors;
  EXPECT_NE(events().find("\"device\""), std::string::npos);
  const Json result = report();
  EXPECT_EQ(result["epochs"].size(), 40U);
  EXPECT_GT(result["best_ndcg_at_10"].get<double>(), 0.5);
  EXPECT_FALSE(std::filesystem::exists(file("checkpoints")));
  auto directory = model::read_model_directory(file("model"));
  ASSERT_TRUE(directory) << directory.error().message;
  EXPECT_EQ((*directory)->dimension, 16U);
  auto encoder = encoder::open_cpu_encoder(*directory, "kitchen", {.threads = 1});
  ASSERT_TRUE(encoder) << encoder.error().message;
  const std::vector<std::string_view> texts = {"how do I heat soup"};
  const auto vectors = (*encoder)->encode(texts, {});
  ASSERT_TRUE(vectors);
  double norm = 0;
  for (const float value : vectors->vectors) {
    norm += static_cast<double>(value) * static_cast<double>(value);
  }
  EXPECT_NEAR(norm, 1.0, 1e-4);
}

TEST_F(TrainerProgram, LearnsTheQuestionsItIsShown) {
  make_workspace(false);
  ASSERT_TRUE(base::replace_file(file("data/valid.jsonl"), make_kitchen().pair_lines));
  job_["train"]["epochs"] = 40;
  // Made-up weights are no guide: they find every passage alike.
  job_["train"]["mask_margin"] = -1;
  job_["train"]["learning_rate"] = 3e-3;
  write_job();
  const base::ChildOutcome outcome = run();
  ASSERT_EQ(outcome.exit_status, 0) << outcome.errors;
  const Json result = report();
  const double untrained = result["epochs"][0]["ndcg_at_10"].get<double>();
  EXPECT_EQ(result["epochs"][0]["epoch"], 0);
  EXPECT_GT(result["best_ndcg_at_10"].get<double>(), untrained + 0.3)
      << base::dump_json(result["epochs"]);
  EXPECT_TRUE(model::read_model_directory(file("model")));
}

TEST_F(TrainerProgram, AnInterruptedRunEndsWithTheSameMetricBitForBit) {
  make_workspace(false);
  job_["train"]["epochs"] = 60;
  write_job();
  ASSERT_EQ(run_interrupted(), 75);
  EXPECT_TRUE(std::filesystem::exists(file("checkpoints/state.safetensors")));
  EXPECT_FALSE(std::filesystem::exists(file("report/train.json")));
  const int second = run_interrupted();
  EXPECT_TRUE(second == 75 || second == 0) << second;
  ASSERT_EQ(run().exit_status, 0);
  const Json interrupted = report();
  std::filesystem::remove_all(file("report"));
  std::filesystem::remove_all(file("model"));
  ASSERT_EQ(run().exit_status, 0);
  const Json whole = report();
  EXPECT_EQ(base::dump_json(interrupted["epochs"]), base::dump_json(whole["epochs"]));
  EXPECT_EQ(interrupted["best_ndcg_at_10"], whole["best_ndcg_at_10"]);
  EXPECT_EQ(interrupted["pairs"], whole["pairs"]);
}

TEST_F(TrainerProgram, AFinishedJobIsNotTrainedAgain) {
  make_workspace(true);
  ASSERT_EQ(run().exit_status, 0);
  const auto written = std::filesystem::last_write_time(file("report/train.json"));
  ASSERT_EQ(run().exit_status, 0);
  EXPECT_EQ(std::filesystem::last_write_time(file("report/train.json")), written);
  job_["train"]["seed"] = 4;  // Another job: trained anew.
  write_job();
  ASSERT_EQ(run().exit_status, 0);
  EXPECT_NE(std::filesystem::last_write_time(file("report/train.json")), written);
}

TEST_F(TrainerProgram, ABudgetShrinksTheStepsAndSaysWhatMoreWouldCost) {
  make_workspace(false);
  job_["train"]["epochs"] = 5000;
  job_["train"]["budget_minutes"] = 0.05;
  write_job();
  const auto start = std::chrono::steady_clock::now();
  const base::ChildOutcome outcome = run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(outcome.exit_status, 0) << outcome.errors;
  EXPECT_LT(took.count(), 40);
  EXPECT_NE(events().find("would take about"), std::string::npos) << events();
  EXPECT_LT(report()["epochs"].size(), 5000U);
}

TEST_F(TrainerProgram, TestModeTakesAFewSteps) {
  make_workspace(true);
  job_["test_mode"] = true;
  job_["train"]["epochs"] = job_["train"]["cold_epochs"] = 1000;
  write_job();
  const base::ChildOutcome outcome = run();
  ASSERT_EQ(outcome.exit_status, 0) << outcome.errors;
  EXPECT_EQ(report()["epochs"].size(), 2U);
  EXPECT_TRUE(model::read_model_directory(file("model")));
}

TEST_F(TrainerProgram, AGpuAskedForButMissingIsAnErrorBeforeAnyWork) {
  if (std::filesystem::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "this machine has an NVIDIA device";
  }
  make_workspace(true);
  job_["device"] = "cuda";
  write_job();
  const base::ChildOutcome outcome = run();
  EXPECT_EQ(outcome.exit_status, 69);
  EXPECT_NE(outcome.errors.find("no NVIDIA device"), std::string::npos) << outcome.errors;
  EXPECT_FALSE(std::filesystem::exists(file("checkpoints")));
}

TEST_F(TrainerProgram, WrongInputHasTheRightExitStatus) {
  EXPECT_EQ(run().exit_status, 66);
  make_workspace(true);
  job_["train"]["epochs"] = "many";
  write_job();
  base::ChildOutcome outcome = run();
  EXPECT_EQ(outcome.exit_status, 78);
  EXPECT_NE(outcome.errors.find("train.epochs"), std::string::npos);
  job_["train"]["epochs"] = 1;
  write_job();
  ASSERT_TRUE(base::replace_file(file("data/pairs.jsonl"), "{\"question\": 5}\n"));
  outcome = run();
  EXPECT_EQ(outcome.exit_status, 65);
  EXPECT_NE(outcome.errors.find("pairs.jsonl line 1"), std::string::npos);
  base::ChildOptions wrong = options();
  wrong.arguments = {SIBYL_TRAINER_PROGRAM, "--works"};
  const auto usage = base::run_child(wrong);
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->exit_status, 64);
}

}  // namespace
}  // namespace sibyl
