#include "train/internal/plan.h"

#include <string>

#include <gtest/gtest.h>

namespace sibyl::train {
namespace {

/// A whole job.json with one parameter replaced.
std::string job_with(const std::string& key = {}, const std::string& value = {}) {
  std::string json = R"({"format": 1, "kind": "supervised", "name": "helpdesk",
    "base": {"name": "minilm", "kind": "transformer"}, "device": "auto", "test_mode": false,
    "train": {"stages": "cold,labels", "epochs": 2, "cold_epochs": 1, "learning_rate": 5e-5,
      "cold_learning_rate": 3e-5, "warmup_share": 0.1, "final_share": 0, "weight_decay": 0.01,
      "gradient_norm_max": 1, "batch_passages": 32, "batch_questions_max": 96,
      "micro_batch_tokens": 2048,
      "question_tokens_max": 64, "passage_tokens_max": 128, "index_tokens_max": 256, "scale": 20,
      "symmetric": true, "mask_margin": -1, "dropout": 0.1, "dimension": 0, "patience": 2,
      "validate_every_steps": 0, "budget_minutes": 3, "seed": 7, "threads": 2,
      "chunk_words": 90}})";
  if (!key.empty()) {
    const size_t from = json.find("\"" + key + "\"");
    const size_t colon = json.find(':', from);
    const size_t end = json.find_first_of(",}", colon);
    json.replace(colon + 1, end - colon - 1, value);
  }
  return json;
}

TEST(Plan, ReadsEveryParameterAndLeavesThoseOfOtherStepsAlone) {
  const auto plan = parse_plan(job_with());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->stages, (std::vector<Stage>{Stage::Cold, Stage::Labels}));
  EXPECT_EQ(epochs_of(*plan, Stage::Labels), 2U);
  EXPECT_EQ(epochs_of(*plan, Stage::Cold), 1U);
  EXPECT_DOUBLE_EQ(learning_rate_of(*plan, Stage::Cold), 3e-5);
  EXPECT_EQ(plan->batch_passages, 32U);
  EXPECT_DOUBLE_EQ(plan->mask_margin, -1);
  EXPECT_EQ(plan->seed, 7U);
  EXPECT_FALSE(plan->static_base);
  EXPECT_NE(plan->parameters_json.find("\"chunk_words\":90"), std::string::npos);
}

TEST(Plan, RefusesAWrongValueByItsPath) {
  const auto epochs = parse_plan(job_with("epochs", "-3"));
  ASSERT_FALSE(epochs);
  EXPECT_EQ(epochs.error().code, Code::InvalidConfig);
  EXPECT_NE(epochs.error().message.find("train.epochs"), std::string::npos);
  const auto rate = parse_plan(job_with("learning_rate", "\"fast\""));
  ASSERT_FALSE(rate);
  EXPECT_NE(rate.error().message.find("train.learning_rate"), std::string::npos);
}

TEST(Plan, RefusesAMissingParameterSoThatNothingIsDecidedTwice) {
  std::string json = job_with();
  const size_t at = json.find("\"seed\": 7,");
  json.erase(at, std::string("\"seed\": 7,").size());
  const auto plan = parse_plan(json);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("train.seed is missing"), std::string::npos);
}

TEST(Plan, RefusesUnknownStagesAndBases) {
  EXPECT_FALSE(parse_plan(job_with("stages", "\"warm\"")));
  EXPECT_FALSE(parse_plan(job_with("kind", "5")));
  std::string json = job_with();
  const std::string kind = "\"kind\": \"transformer\"";
  json.replace(json.find(kind), kind.size(), "\"kind\": \"recurrent\"");
  const auto plan = parse_plan(json);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("recurrent"), std::string::npos);
}

TEST(Plan, HostileTextIsAnError) {
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"), std::string(1000, '['),
        std::string("{\"format\": 2}"), std::string("{\"train\": [], \"base\": {}}"),
        std::string("\0\0\0", 3)}) {
    EXPECT_FALSE(parse_plan(text)) << text;
  }
}

}  // namespace
}  // namespace sibyl::train
