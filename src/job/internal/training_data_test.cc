#include "job/internal/training_data.h"

#include <set>

#include <gtest/gtest.h>

#include "base/file_system.h"

namespace sibyl::job::internal {
namespace {

// Documents d0..d(n-1) and two questions for each of the first `asked`.
class TrainingDataTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(base::replace_file(path(name), content));
  }
  std::string path(const std::string& name) const { return base::join_path(folder_.path(), name); }
  void write_documents(size_t count) {
    std::string lines;
    for (size_t i = 0; i < count; ++i) {
      lines += fmt::format(
          "{{\"id\":\"d{0}\",\"title\":\"Guide to topic {0}\",\"text\":\"Topic {0} is explained "
          "in this text. It has a second sentence about number {0}. And one more of them.\"}}\n",
          i);
    }
    write("texts.jsonl", lines);
    job_.texts = path("texts.jsonl");
  }
  void write_pairs(size_t asked) {
    std::string lines;
    for (size_t i = 0; i < asked; ++i) {
      for (const char* const form : {"What is topic {}?", "How does topic {} work?"}) {
        lines += fmt::format("{{\"question\":\"{}\",\"answer_id\":\"d{}\"}}\n",
                             fmt::format(fmt::runtime(form), i), i);
      }
    }
    write("pairs.jsonl", lines);
    job_.pairs = path("pairs.jsonl");
  }
  Result<TrainingData> build() { return build_training_data(job_, options_, {}); }

  base::TemporaryDirectory folder_;
  JobFile job_;
  BuildOptions options_;
};

TEST_F(TrainingDataTest, ValidationIsSplitOffByPassage) {
  write_documents(300);
  write_pairs(300);
  const auto data = build();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->valid.size(), 60U);  // a tenth of 600, even because of the two a passage
  EXPECT_EQ(data->pairs.size(), 540U);
  std::set<uint32_t> held;
  for (const LabelledQuestion& question : data->valid) {
    held.insert(question.passages[0]);
  }
  for (const LabelledQuestion& question : data->pairs) {
    EXPECT_FALSE(held.contains(question.passages[0]));
  }
  // Without questions of its own the evaluation asks those that were held out.
  EXPECT_EQ(data->evaluation_questions.size(), 60U);
  EXPECT_EQ(data->evaluation_documents.size(), 300U);
}

TEST_F(TrainingDataTest, TheSameSeedSplitsTheSame) {
  write_documents(60);
  write_pairs(60);
  const auto first = build();
  const auto second = build();
  options_.seed = 2;
  const auto other = build();
  ASSERT_TRUE(first && second && other);
  EXPECT_EQ(first->valid[0].question, second->valid[0].question);
  EXPECT_NE(first->valid[0].question, other->valid[0].question);
}

TEST_F(TrainingDataTest, QuestionsOfTheEvaluationAreNeverTrainedOn) {
  write_documents(20);
  write_pairs(20);
  write("valid.jsonl",
        "{\"question\":\"what is  TOPIC 3\",\"answer_id\":\"d3\"}\n"
        "{\"question\":\"Another about 4?\",\"answer_id\":\"d4\"}\n");
  job_.evaluate_questions = path("valid.jsonl");
  const auto data = build();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->pairs.size(), 39U);
  EXPECT_EQ(data->valid.size(), 2U);
  EXPECT_EQ(data->statistics["held_out_pairs_dropped"], 1);
  EXPECT_EQ(data->questions_from, "evaluate.questions");
  ASSERT_FALSE(data->notes.empty());
}

TEST_F(TrainingDataTest, APairWhoseAnswerDoesNotExistIsNamed) {
  write_documents(3);
  write("pairs.jsonl",
        "{\"question\":\"a\",\"answer_id\":\"d0\"}\n{\"question\":\"b\",\"answer_id\":\"nope\"}\n");
  job_.pairs = path("pairs.jsonl");
  const auto data = build();
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, Code::InvalidData);
  EXPECT_NE(data.error().message.find("pairs.jsonl line 2: answer_id 'nope' is none of the 3"),
            std::string::npos)
      << data.error().message;
}

TEST_F(TrainingDataTest, AnswersGivenAsTextBecomeDocumentsAndSeveralRowsMerge) {
  write("pairs.jsonl",
        "{\"question\":\"q1\",\"answer\":\"The first answer.\"}\n"
        "{\"question\":\"q1\",\"answer\":\"The second answer.\"}\n"
        "{\"question\":\"q2\",\"answer\":\"The first answer. \"}\n"
        "{\"question\":\"q3\",\"answer\":\"The third answer.\"}\n"
        "{\"question\":\"q4\",\"answer\":\"The fourth answer.\"}\n"
        "{\"question\":\"q5\",\"answer\":\"The fifth answer.\"}\n");
  job_.pairs = path("pairs.jsonl");
  const auto data = build();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->passages.size(), 5U);
  std::vector<LabelledQuestion> all = data->pairs;
  all.insert(all.end(), data->valid.begin(), data->valid.end());
  ASSERT_EQ(all.size(), 5U);
  for (const LabelledQuestion& question : all) {
    EXPECT_EQ(question.passages.size(), question.question == "q1" ? 2U : 1U);
  }
}

TEST_F(TrainingDataTest, AColdStartHidesWhatItsValidationAsksFor) {
  write_documents(100);
  job_.kind = JobKind::ColdStart;
  options_.labels = false;
  options_.cold = true;
  const auto data = build();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->valid.size(), 20U);
  EXPECT_EQ(data->cold.size(), 160U);  // a heading and a sentence of each of the other 80
  std::set<uint32_t> held;
  for (const LabelledQuestion& question : data->valid) {
    const uint32_t passage = question.passages[0];
    held.insert(passage);
    EXPECT_EQ(data->passages[passage].text.find(question.question), std::string::npos);
  }
  for (const ColdPair& pair : data->cold) {
    EXPECT_FALSE(held.contains(pair.passage));
  }
  EXPECT_EQ(data->evaluation_documents.size(), 100U);
}

TEST_F(TrainingDataTest, TestModeTakesASmallPart) {
  write_documents(500);
  write_pairs(400);
  job_.test_mode = true;
  const auto data = build();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->pairs.size() + data->valid.size(), 64U);
  EXPECT_EQ(data->passages.size(), 200U);
}

TEST_F(TrainingDataTest, TheEvaluationMayHaveDocumentsOfItsOwn) {
  write_documents(100);
  job_.kind = JobKind::ColdStart;
  options_.labels = false;
  options_.cold = true;
  write("faq.jsonl",
        "{\"id\":\"f1\",\"text\":\"An entry.\"}\n{\"id\":\"f2\",\"text\":\"Other.\"}\n");
  write("questions.jsonl", "{\"question\":\"Which?\",\"answer_id\":\"f2\"}\n");
  job_.evaluate_texts = path("faq.jsonl");
  job_.evaluate_questions = path("questions.jsonl");
  const auto data = build();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->evaluation_documents.size(), 2U);
  EXPECT_EQ(data->evaluation_questions.size(), 1U);
  EXPECT_EQ(data->valid.size(), 20U);  // those questions choose no epoch
}

TEST(ValidationCount, IsATenthWithinItsLimits) {
  EXPECT_EQ(validation_count(0), 0U);
  EXPECT_EQ(validation_count(1), 0U);
  EXPECT_EQ(validation_count(2), 1U);
  EXPECT_EQ(validation_count(100), 20U);
  EXPECT_EQ(validation_count(400), 50U);
  EXPECT_EQ(validation_count(4407), 440U);
  EXPECT_EQ(validation_count(1'000'000), 1100U);
}

TEST(NormalizedQuestion, IgnoresCaseSpaceAndEndMarks) {
  EXPECT_EQ(normalized_question("  What IS\tit ? "), "what is it");
  EXPECT_EQ(normalized_question("Grüße."), "grüße");
}

}  // namespace
}  // namespace sibyl::job::internal
