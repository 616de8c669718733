#include "answer/evaluation.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answer/internal/passage_table.h"
#include "base/file_system.h"
#include "base/json.h"

namespace sibyl::answer {
namespace {

class JudgedQuestionsTest : public ::testing::Test {
 protected:
  std::string put(const std::string& name, std::string_view bytes) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  base::TemporaryDirectory folder_;
};

TEST_F(JudgedQuestionsTest, PairsOfOneQuestionAreMerged) {
  const auto questions =
      read_judged_questions(put("p.jsonl",
                                "{\"question\": \"a?\", \"answer_id\": \"1\"}\n\n{\"question\": "
                                "\"b?\", \"answer\": \"Text\"}\n"
                                "{\"question\": \"a?\", \"answer_id\": \"2\"}\n{\"question\": "
                                "\"a?\", \"answer_id\": 1}\n"),
                            "");
  ASSERT_TRUE(questions.has_value()) << questions.error().message;
  ASSERT_EQ(questions->size(), 2U);
  EXPECT_EQ((*questions)[0].gold, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ((*questions)[1].gold_texts, std::vector<std::string>{"Text"});
  const auto csv = read_judged_questions(put("p.csv", "question,answer_id\n\"one, two?\",x\n"), "");
  ASSERT_TRUE(csv.has_value()) << csv.error().message;
  EXPECT_EQ((*csv)[0].question, "one, two?");
}

TEST_F(JudgedQuestionsTest, QrelsOfBothForms) {
  const std::string questions =
      put("q.jsonl",
          "{\"_id\": \"q1\", \"text\": \"a?\"}\n{\"id\": 2, \"question\": \"b?\"}\n"
          "{\"_id\": \"q3\", \"text\": \"unjudged\"}\n");
  const std::string beir =
      put("beir.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n2\td3\t2\n");
  const std::string trec = put("trec.txt", "q1 0 d1 1\nq1 0 d2 0\n2 0 d3 1\n");
  for (const std::string& qrels : {beir, trec}) {
    const auto judged = read_judged_questions(questions, qrels);
    ASSERT_TRUE(judged.has_value()) << judged.error().message;
    ASSERT_EQ(judged->size(), 2U);
    EXPECT_EQ((*judged)[0].gold, std::vector<std::string>{"d1"});
    EXPECT_EQ((*judged)[1].gold, std::vector<std::string>{"d3"});
  }
}

TEST_F(JudgedQuestionsTest, WrongLinesAreNamed) {
  const auto message = [](const std::string& questions, const std::string& qrels) {
    const auto result = read_judged_questions(questions, qrels);
    EXPECT_EQ(result.error().code, Code::InvalidData);
    return result.error().message;
  };
  EXPECT_NE(
      message(put("a.jsonl", "{\"question\": \"x\", \"answer_id\": \"1\"}\n{\"question\": \"x\"}"),
              "")
          .find("a.jsonl line 2: answer_id"),
      std::string::npos);
  EXPECT_NE(message(put("b.jsonl", "{\"answer\": \"x\"}"), "").find("line 1: question"),
            std::string::npos);
  EXPECT_NE(message(put("c.jsonl", "nonsense"), "").find("line 1"), std::string::npos);
  EXPECT_NE(message(put("d.jsonl", ""), "").find("no judged question"), std::string::npos);
  const std::string questions = put("q.jsonl", "{\"_id\": \"q1\", \"text\": \"a?\"}\n");
  EXPECT_NE(message(questions, put("e.tsv", "q1 d1 1\nq9 d1 1\n")).find("line 2: question 'q9'"),
            std::string::npos);
  EXPECT_NE(message(questions, put("f.tsv", "q1 d1 yes\n")).find("grade"), std::string::npos);
  EXPECT_EQ(read_judged_questions("/none", "").error().code, Code::NotFound);
}

/// Ten documents whose features are made so that document alone is wrong for odd questions and BM25
/// for even ones; their sum is right.
QueryReply made_reply(const QueryRequest& request, bool has_vectors) {
  const int gold = std::stoi(request.question);
  const auto pipeline = *resolve_pipeline(request.pipeline, {}, has_vectors);
  std::vector<std::array<float, kRetrievals>> features;
  for (int i = 0; i < 10; ++i) {
    const bool decoy = i == (gold + 1) % 10;
    const float sure = i == gold ? 0.8F : 0.1F;
    const bool odd = gold % 2 != 0;
    features.push_back({decoy && odd ? 0.9F : sure, 0.1F, 0.1F, decoy && !odd ? 0.9F : sure});
  }
  const std::vector<double> scores = pipeline.blend->scores(features);
  std::vector<int> order(10);
  for (int i = 0; i < 10; ++i) {
    order[static_cast<size_t>(i)] = i;
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const double left = scores[static_cast<size_t>(a)];
    const double right = scores[static_cast<size_t>(b)];
    return left != right ? left > right : a < b;
  });
  QueryReply reply;
  reply.pipeline = pipeline.name;
  reply.blend = pipeline.blend->text();
  for (const int i : order) {
    Answer answer;
    answer.id = fmt::format("d{}", i);
    answer.text = fmt::format("text of {}", i);
    for (size_t r = 0; r < kRetrievals; ++r) {
      answer.retrievals[r] = {true, features[static_cast<size_t>(i)][r], 1};
    }
    reply.answers.push_back(answer);
  }
  return reply;
}

std::vector<JudgedQuestion> made_questions() {
  std::vector<JudgedQuestion> questions;
  for (int i = 0; i < 10; ++i) {
    questions.push_back({std::to_string(i), std::to_string(i), {fmt::format("d{}", i)}, {}});
  }
  return questions;
}

TEST(Evaluate, EveryPipelineAndTheFit) {
  EvaluationOptions options;
  options.fit_weights = true;
  const auto report =
      evaluate([](const QueryRequest& request) { return made_reply(request, true); },
               made_questions(), options);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->questions, 10U);
  ASSERT_EQ(report->pipelines.size(), 6U);
  EXPECT_EQ(report->pipelines[0].pipeline, "bm25");
  EXPECT_DOUBLE_EQ(report->pipelines[0].metrics[0].mean, 0.5);
  EXPECT_DOUBLE_EQ(report->pipelines[1].metrics[0].mean, 0.5);
  EXPECT_EQ(report->pipelines[2].blend, "2.5*document + bm25");
  EXPECT_EQ(report->pipelines[4].pipeline, "document+bm25 (fitted)");
  EXPECT_DOUBLE_EQ(report->pipelines[4].metrics[0].mean, 1);
  EXPECT_EQ(report->fitted.at("document+bm25"), "1*document + 1*bm25");
  ASSERT_EQ(report->cross_fitted.size(), 2U);
  EXPECT_DOUBLE_EQ(report->cross_fitted[0].metrics[0].mean, 1);

  const auto json = base::parse_json(evaluation_to_json(*report));
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->at("pipelines")[0]["metrics"]["P@1"]["mean"], 0.5);
  EXPECT_EQ(json->at("fitted")["document+bm25"], "1*document + 1*bm25");
  const std::string table = evaluation_to_table(*report);
  EXPECT_NE(table.find("document+bm25 (cross-fitted)"), std::string::npos);
  EXPECT_NE(table.find("100.0"), std::string::npos);
}

TEST(Evaluate, WithoutVectorsOnlyBm25) {
  EvaluationOptions options;
  options.fit_weights = true;
  const auto report =
      evaluate([](const QueryRequest& request) { return made_reply(request, false); },
               made_questions(), options);
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->pipelines.size(), 1U);
  EXPECT_EQ(report->pipelines[0].pipeline, "bm25");
  EXPECT_TRUE(report->fitted.empty());
}

TEST(Evaluate, GoldTextsMatchPassages) {
  auto questions = made_questions();
  for (JudgedQuestion& question : questions) {
    question.gold_texts = {"text  of\n" + question.question};
    question.gold.clear();
  }
  EvaluationOptions options;
  options.pipelines = {"document+bm25"};
  const auto report = evaluate(
      [](const QueryRequest& request) { return made_reply(request, true); }, questions, options);
  EXPECT_DOUBLE_EQ(report->pipelines[0].metrics[1].mean, 1);
}

TEST(Evaluate, ErrorsNameTheQuestion) {
  const auto report = evaluate(
      [](const QueryRequest&) -> Result<QueryReply> { return fail(Code::Unavailable, "gone"); },
      made_questions(), {});
  EXPECT_EQ(report.error().code, Code::Unavailable);
  EXPECT_FALSE(evaluate([](const QueryRequest& r) { return made_reply(r, true); }, {}, {}));
}

TEST(PassageTable, GoesBothWaysAndLiesAreFound) {
  internal::PassageTable table;
  table.headings = {{"A", "B"}, {}};
  table.passages = {{{0, 10}, 0}, {{8, 20}, 1}};
  const std::string bytes = internal::pack_passages(table);
  const auto back = internal::unpack_passages(bytes, 20);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->headings, table.headings);
  EXPECT_EQ(back->passages[1].range, (text::Range{8, 20}));
  EXPECT_EQ(internal::unpack_passages(bytes, 19).error().code, Code::DataLoss);
  EXPECT_FALSE(internal::unpack_passages(bytes + "x", 20).has_value());
  EXPECT_FALSE(internal::unpack_passages("", 20).has_value());
  EXPECT_FALSE(internal::unpack_passages("\x02", 20).has_value());
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(internal::unpack_passages(bytes.substr(0, cut), 20).has_value());
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = '\xFF';
    // Whatever comes back lies within the text.
    if (const auto read = internal::unpack_passages(damaged, 20)) {
      for (const internal::Passage& passage : read->passages) {
        EXPECT_LE(passage.range.end, 20U);
        EXPECT_LT(passage.heading, read->headings.size());
      }
    }
  }
}

}  // namespace
}  // namespace sibyl::answer
