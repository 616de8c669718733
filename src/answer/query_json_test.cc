#include "answer/query_json.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::answer {
namespace {

TEST(QueryRequestJson, GoesBothWays) {
  QueryRequest request;
  request.question = "Wie groß?";
  request.top = 7;
  request.filter = "year > 3";
  request.pipeline = "bm25";
  request.explain = true;
  request.spans = false;
  const auto back = query_request_from_json(query_request_to_json(request));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(back->question, request.question);
  EXPECT_EQ(back->top, 7U);
  EXPECT_EQ(back->filter, request.filter);
  EXPECT_EQ(back->pipeline, "bm25");
  EXPECT_TRUE(back->explain);
  EXPECT_FALSE(back->spans);
  EXPECT_EQ(query_request_from_json(R"({"question": "x"})")->top, 5U);
}

TEST(QueryRequestJson, WrongRequestsNameTheField) {
  EXPECT_EQ(query_request_from_json(R"({"top": 3})").error().field, "question");
  EXPECT_EQ(query_request_from_json(R"({"question": "x", "top": 0})").error().field, "top");
  EXPECT_EQ(query_request_from_json(R"({"question": "x", "top": 1001})").error().field, "top");
  const auto unknown = query_request_from_json(R"({"question": "x", "filtr": "a"})");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("filter"), std::string::npos);
  EXPECT_FALSE(query_request_from_json("[]").has_value());
  EXPECT_FALSE(query_request_from_json("").has_value());
}

QueryReply sample_reply() {
  QueryReply reply;
  Answer answer;
  answer.id = "d";
  answer.passage_id = "d#1";
  answer.score = 1.25;
  answer.title = "Titel";
  answer.headings = {"A", "B"};
  answer.text = "Größe zählt. Ja.";
  answer.begin = 100;
  answer.end = 120;
  answer.metadata = R"({"k":1})";
  answer.span = Span{"zählt", 8, 14, 0.5};
  answer.retrievals[3] = {true, 1.0F, 1};
  answer.retrievals[0] = {true, 0.25F, 0};
  reply.answers.push_back(answer);
  reply.collection = "c";
  reply.model = "m@1";
  reply.pipeline = "blend";
  reply.blend = "4*document + bm25";
  reply.took_ms = 1.5;
  return reply;
}

TEST(QueryReplyJson, SpansCountCharactersOnTheWire) {
  const auto json = base::parse_json(query_reply_to_json(sample_reply(), true));
  ASSERT_TRUE(json.has_value());
  const base::Json& answer = json->at("answers")[0];
  EXPECT_EQ(answer["span"]["start"], 6);
  EXPECT_EQ(answer["span"]["end"], 11);
  EXPECT_EQ(answer["retrievals"]["bm25"]["rank"], 1);
  EXPECT_TRUE(answer["retrievals"]["document"]["rank"].is_null());
  EXPECT_FALSE(answer["retrievals"].contains("chunks"));
  EXPECT_EQ(json->at("blend"), "4*document + bm25");
  EXPECT_FALSE(json->contains("notice"));
}

TEST(QueryReplyJson, GoesBothWays) {
  const QueryReply reply = sample_reply();
  const auto back = query_reply_from_json(query_reply_to_json(reply, true));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  ASSERT_EQ(back->answers.size(), 1U);
  const Answer& answer = back->answers[0];
  EXPECT_EQ(answer.text, reply.answers[0].text);
  EXPECT_EQ(answer.span->begin, 8U);
  EXPECT_EQ(answer.span->end, 14U);
  EXPECT_EQ(answer.begin, 100U);
  EXPECT_EQ(answer.metadata, R"({"k":1})");
  EXPECT_TRUE(answer.retrievals[0].used);
  EXPECT_EQ(answer.retrievals[0].rank, 0U);
  EXPECT_FALSE(answer.retrievals[2].used);
  EXPECT_EQ(back->blend, reply.blend);
}

TEST(QueryReplyJson, ForeignRepliesAreRefused) {
  EXPECT_FALSE(query_reply_from_json("{}").has_value());
  EXPECT_FALSE(query_reply_from_json(R"({"answers": [1]})").has_value());
  EXPECT_FALSE(query_reply_from_json(R"({"answers": [{"span": {"start": -1}}]})").has_value());
}

}  // namespace
}  // namespace sibyl::answer
