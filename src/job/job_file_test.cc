#include "job/job_file.h"

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/json.h"

namespace sibyl::job {
namespace {

constexpr std::string_view kSmall =
    "kind: supervised\nname: helpdesk\ndata: {pairs: pairs.jsonl}\n";

std::string refusal(std::string_view yaml) {
  const auto job = parse_job_file(yaml, "/jobs");
  return job ? "accepted" : job.error().message;
}

TEST(JobFile, PathsAreTakenFromItsFolder) {
  const auto job = parse_job_file(
      "kind: supervised\nname: a\ndata: {pairs: p.jsonl, texts: /abs/t}\nbase: ./model\n"
      "evaluate: {questions: q.jsonl}\n",
      "/jobs");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->pairs, "/jobs/p.jsonl");
  EXPECT_EQ(job->texts, "/abs/t");
  EXPECT_EQ(job->base, "/jobs/./model");
  EXPECT_EQ(job->evaluate_questions, "/jobs/q.jsonl");
  EXPECT_TRUE(job->fit_weights);
}

TEST(JobFile, DefaultsHoldWhenNothingIsSaid) {
  const auto job = parse_job_file(kSmall, "/");
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->base, "minilm");
  EXPECT_FALSE(job->base_given);
  EXPECT_EQ(job->device, "auto");
  EXPECT_FALSE(job->test_mode);
}

// What the writer of a job file sees: line, value, and what was meant.
TEST(JobFile, AMisspeltKeyIsRefusedWithLineAndNearestName) {
  EXPECT_EQ(refusal("kind: supervised\nname: a\ndata:\n  pairs: p\ntrain:\n  epoch: 3\n"),
            "line 6: train.epoch is not known; did you mean 'epochs'?");
  EXPECT_EQ(refusal("kind: supervised\nname: a\ndata: {pairs: p}\ndevise: cpu\n"),
            "line 4: devise is not known; did you mean 'device'?");
  EXPECT_EQ(refusal("kind: superviced\nname: a\ndata: {pairs: p}\n"),
            "line 1: kind is 'superviced'; did you mean 'supervised'?");
}

TEST(JobFile, WrongTypesAndImpossibleValuesAreRefused) {
  const std::string start(kSmall);
  EXPECT_EQ(refusal(start + "train: {epochs: 2.5}\n"),
            "line 4: train.epochs is 2.5; must be a whole number from 0 to 1000");
  EXPECT_EQ(refusal(start + "train: {learning_rate: fast}\n"),
            "line 4: train.learning_rate is \"fast\"; must be a number from 0 to 1");
  EXPECT_EQ(refusal(start + "train: {stages: all}\n"),
            "line 4: train.stages is 'all'; must be labels, cold or cold,labels");
  EXPECT_EQ(refusal(start + "device: gpu\n"),
            "line 4: device is 'gpu'; must be auto, cpu, cuda or cuda:N");
  EXPECT_EQ(
      refusal("kind: supervised\nname: Big Name\ndata: {pairs: p}\n"),
      "line 2: name is 'Big Name'; must be 1 to 64 of a-z 0-9 . _ -, a letter or digit first");
  EXPECT_EQ(refusal(start + "test_mode: 1\n"), "line 4: test_mode is 1; must be true or false");
}

TEST(JobFile, WhatAKindNeedsMustBeThere) {
  EXPECT_EQ(refusal("kind: supervised\nname: a\ndata: {texts: t}\n"),
            "line 3: data.pairs is missing; a supervised job needs questions with answers");
  EXPECT_EQ(refusal("kind: coldstart\nname: a\ndata: {pairs: p, texts: t}\n"),
            "line 3: data.pairs is '/jobs/p'; only a supervised job has pairs");
  EXPECT_EQ(refusal("kind: coldstart\nname: a\ndata: {}\n"),
            "line 3: data is without texts and collection; one of them must name the documents");
  EXPECT_EQ(refusal("kind: evaluate\ndata: {texts: t}\n"),
            "evaluate.questions is missing; an evaluation needs judged questions");
}

TEST(JobFile, WhatIsNotBuiltIsRefusedByName) {
  const auto tuned = parse_job_file(std::string(kSmall) + "auto_tune: {enabled: true}\n", "/");
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.error().code, Code::Unimplemented);
  for (const char* const base : {"word_custom", "bpe_en_300_10000", "word_en_300d_2M"}) {
    const auto job = parse_job_file(fmt::format("{}base: {}\n", kSmall, base), "/");
    ASSERT_FALSE(job) << base;
    EXPECT_EQ(job.error().code, Code::Unimplemented);
  }
}

TEST(JobFile, ErrorsAreConfigurationErrors) {
  const auto job = parse_job_file("kind: [\n", "/");
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::InvalidConfig);
  EXPECT_EQ(exit_status(job.error().code), 78);
}

TEST(JobFile, GoesToJsonAndBack) {
  const auto job = parse_job_file(
      "kind: supervised\nname: a\ndata: {pairs: p, collection: c}\nbase: other\n"
      "train: {epochs: 3, learning_rate: 1e-5, symmetric: false, stages: labels}\n"
      "evaluate: {questions: q, qrels: r, texts: t, fit_weights: false, compare_base: false}\n"
      "deploy: {collection: c}\ndevice: cuda:1\ntest_mode: true\nallow_cpu_fallback: true\n",
      "/jobs");
  ASSERT_TRUE(job) << job.error().message;
  const auto again = job_from_json(job_to_json(*job), "/elsewhere");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(base::dump_json(job_to_json(*again)), base::dump_json(job_to_json(*job)));
  EXPECT_EQ(again->train.at("learning_rate"), "1e-05");
  EXPECT_EQ(again->pairs, "/jobs/p");
  EXPECT_EQ(again->device, "cuda:1");
}

TEST(JobFile, AMissingInputIsNamedByItsField) {
  const auto job = parse_job_file(kSmall, "/no/such/folder");
  const auto there = check_inputs_exist(*job);
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, Code::NotFound);
  EXPECT_EQ(there.error().field, "data.pairs");
}

// The page that people and editors read must not differ from the code.
TEST(JobSchema, TheFileInTheDocumentationIsTheCodes) {
  const auto file = base::read_file(SIBYL_TEST_DATA "/../../docs/reference/job.schema.json");
  ASSERT_TRUE(file) << "make it with: sibyl train --print-schema > docs/reference/job.schema.json";
  EXPECT_EQ(*file, job_json_schema());
}

TEST(JobSchema, HasEveryTrainingParameter) {
  const auto schema = base::parse_json(job_json_schema());
  ASSERT_TRUE(schema);
  const base::Json& train = (*schema)["properties"]["train"]["properties"];
  EXPECT_EQ(train.size(), train_parameters().size());
  EXPECT_EQ(train["epochs"]["maximum"], 1000);
}

}  // namespace
}  // namespace sibyl::job
