#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answer/answer_service.h"
#include "answer/evaluation.h"
#include "base/file_system.h"
#include "base/gzip.h"
#include "base/json.h"
#include "rank/metrics.h"

namespace sibyl::answer {
namespace {

const std::string kData = std::string(SIBYL_SHARED_DATA) + "/feedbackqa";

class NoEncoders final : public EncoderSource {
 public:
  Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) override {
    return fail(Code::FailedPrecondition, "there is no model '{}'", reference);
  }
  std::map<std::string, std::string> pipelines(const std::string&) override { return {}; }
};

/// The corpus as documents of ours: its headers are our headings.
std::string corpus_body() {
  std::string body;
  const auto done =
      base::for_each_line(kData + "/corpus.jsonl", 1 << 24, [&](const base::Line& line) {
        const base::Json row = *base::parse_json(line.text);
        base::Json document = {{"id", row["_id"]}, {"title", row["title"]}};
        document["headings"] = row["headers"];
        document["text"] = row["text"];
        body += base::dump_json(document) + "\n";
        return true;
      });
  EXPECT_TRUE(done.has_value());
  return body;
}

// The figure that trec_eval's measure of a plain BM25 with the same analysis gives is 57.0.
TEST(FeedbackQa, Bm25FindsWhatTheReferenceFinds) {
  if (!std::filesystem::exists(kData + "/corpus.jsonl")) {
    GTEST_SKIP() << "FeedbackQA is missing at " << kData;
  }
  const base::TemporaryDirectory folder;
  auto database = store::Database::open(folder.path(), {});
  ASSERT_TRUE(database.has_value()) << database.error().message;
  NoEncoders encoders;
  const auto service = AnswerService::create(**database, encoders);
  const auto added = service->add("feedbackqa", corpus_body(), {});
  ASSERT_TRUE(added.has_value()) << added.error().message;
  EXPECT_EQ(added->added, 2364U);
  EXPECT_TRUE(added->failed.empty());
  ASSERT_TRUE(service->compact("feedbackqa", {}).has_value());

  const auto questions =
      read_judged_questions(kData + "/queries.valid.jsonl", kData + "/qrels.valid.tsv");
  ASSERT_TRUE(questions.has_value()) << questions.error().message;
  ASSERT_EQ(questions->size(), 1100U);
  std::vector<rank::Metrics> scores;
  QueryRequest request;
  request.top = 10;
  request.pipeline = "bm25";
  request.spans = false;
  for (const JudgedQuestion& judged : *questions) {
    request.question = judged.question;
    const auto reply = service->query("feedbackqa", request, {});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    std::vector<uint8_t> hits;
    for (const Answer& answer : reply->answers) {
      hits.push_back(answer.id == judged.gold.front() ? 1 : 0);
    }
    scores.push_back(rank::score_ranking(hits, judged.gold.size()));
  }
  const rank::Metrics mean = rank::mean_metrics(scores);
  EXPECT_NEAR(mean.ndcg_at_10, 0.570, 0.002);
  EXPECT_NEAR(mean.precision_at_1, 0.431, 0.004);
  EXPECT_NEAR(mean.mrr_at_10, 0.523, 0.002);
}

}  // namespace
}  // namespace sibyl::answer
