#include "answer/answer_service.h"

#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answer/internal/test_encoders.h"
#include "base/file_system.h"
#include "base/json.h"

namespace sibyl::answer {
namespace {

constexpr std::string_view kTea =
    R"({"id": "tea", "title": "Green tea", "headings": ["Brewing"], )"
    R"("text": "Brew green tea at eighty degrees. Wait two minutes.", "metadata": {"kind": "drink"}})";
constexpr std::string_view kBread =
    R"({"id": "bread", "title": "Rye bread", )"
    R"("text": "Bake rye bread for an hour. Let it rest over night.", "metadata": {"kind": "food"}})";
constexpr std::string_view kSoup =
    R"({"id": "soup", "title": "Onion soup", )"
    R"("text": "Fry the onions slowly. Add broth and wine.", "metadata": {"kind": "food"}})";

std::string body_of(std::initializer_list<std::string_view> rows) {
  std::string body;
  for (const std::string_view row : rows) {
    body += std::string(row) + "\n";
  }
  return body;
}

class AnswerServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    service_.reset();
    database_.reset();
    auto database = store::Database::open(folder_.path(), {});
    ASSERT_TRUE(database.has_value()) << database.error().message;
    database_ = std::move(*database);
    service_ = AnswerService::create(*database_, encoders_);
  }
  AddReport add(const std::string& body) {
    auto report = service_->add("c", body, {});
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? *report : AddReport{};
  }
  QueryReply ask(const std::string& question, const std::string& pipeline = "", size_t top = 5,
                 bool explain = false, const std::string& filter = "") {
    QueryRequest request;
    request.question = question;
    request.pipeline = pipeline;
    request.top = top;
    request.explain = explain;
    request.filter = filter;
    auto reply = service_->query("c", request, {});
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? *reply : QueryReply{};
  }
  Result<bool> put(const std::string& settings, bool wait = true) {
    return service_->put_collection("c", *base::parse_json(settings), wait);
  }

  base::TemporaryDirectory folder_;
  internal::FakeEncoders encoders_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<AnswerService> service_;
};

TEST_F(AnswerServiceTest, WithoutAModelBm25AnswersAndSaysSo) {
  const AddReport report = add(body_of({kTea, kBread, kSoup}));
  EXPECT_EQ(report.added, 3U);
  const QueryReply reply = ask("how long does rye bread rest?");
  ASSERT_EQ(reply.answers.size(), 1U);
  EXPECT_EQ(reply.answers[0].id, "bread");
  EXPECT_EQ(reply.answers[0].passage_id, "bread#0");
  EXPECT_DOUBLE_EQ(reply.answers[0].score, 1);  // Divided by the question's best.
  EXPECT_EQ(reply.pipeline, "bm25");
  EXPECT_EQ(reply.notice, "no model: answered by BM25 alone");
  ASSERT_TRUE(reply.answers[0].span.has_value());
  EXPECT_EQ(reply.answers[0].span->text, "Bake rye bread for an hour.");
  EXPECT_TRUE(ask("zebra").answers.empty());
}

TEST_F(AnswerServiceTest, EveryFeatureStandsForEveryCandidate) {
  encoders_.put("words", "1", 64, true);
  add(body_of({kTea, kBread, kSoup}));
  const QueryReply reply = ask("green tea minutes", "", 5, true);
  EXPECT_EQ(reply.model, "words@1");
  ASSERT_EQ(reply.answers.size(), 3U);
  EXPECT_EQ(reply.answers[0].id, "tea");
  for (const Answer& answer : reply.answers) {
    for (size_t r = 0; r < 3; ++r) {
      EXPECT_TRUE(answer.retrievals[r].used);
      EXPECT_GT(answer.retrievals[r].score, 0);
      EXPECT_GE(answer.retrievals[r].rank, 1U);
    }
  }
  EXPECT_EQ(reply.answers[0].retrievals[3].rank, 1U);
  EXPECT_FLOAT_EQ(reply.answers[0].retrievals[3].score, 1);
  EXPECT_EQ(reply.answers[2].retrievals[3].rank, 0U);
  // The blend is what the features say.
  const Answer& best = reply.answers[0];
  EXPECT_NEAR(best.score,
              4.0 * best.retrievals[0].score + 1.5 * best.retrievals[1].score +
                  0.3 * best.retrievals[2].score + best.retrievals[3].score,
              1e-5);
  // Explaining changes no ranking and no score.
  const QueryReply plain = ask("green tea minutes", "document");
  const QueryReply explained = ask("green tea minutes", "document", 5, true);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plain.answers[i].id, explained.answers[i].id);
    EXPECT_EQ(plain.answers[i].score, explained.answers[i].score);
    EXPECT_FALSE(plain.answers[i].retrievals[1].used);
    EXPECT_TRUE(explained.answers[i].retrievals[1].used);
    EXPECT_EQ(plain.answers[i].passage_id, explained.answers[i].passage_id);
  }
}

TEST_F(AnswerServiceTest, UnchangedRowsCostNoEncoding) {
  const auto encoder = encoders_.put("words", "1", 64, true);
  add(body_of({kTea, kBread}));
  const uint64_t before = encoder->encoded;
  AddReport report = add(body_of({kTea, kBread}));
  EXPECT_EQ(report.unchanged, 2U);
  EXPECT_EQ(encoder->encoded, before);
  std::string changed(kTea);
  changed.replace(changed.find("eighty"), 6, "ninety");
  report = add(body_of({changed, kBread}));
  EXPECT_EQ(report.updated, 1U);
  EXPECT_EQ(report.unchanged, 1U);
  EXPECT_NE(ask("ninety degrees", "bm25").answers.at(0).text.find("ninety"), std::string::npos);
}

TEST_F(AnswerServiceTest, WrongRowsAreNamedAndOthersStored) {
  const AddReport report =
      add(body_of({kTea, R"({"id": "one", "text": 1})", "{broken", kTea, kBread}));
  EXPECT_EQ(report.added, 2U);
  ASSERT_EQ(report.failed.size(), 3U);
  EXPECT_EQ(report.failed[0].line, 2U);
  EXPECT_EQ(report.failed[0].id, "one");
  EXPECT_EQ(report.failed[0].error.field, "text");
  EXPECT_EQ(report.failed[1].line, 3U);
  EXPECT_EQ(report.failed[2].line, 4U);
  EXPECT_EQ(report.failed[2].id, "tea");
  EXPECT_NE(report.failed[2].error.message.find("line 1"), std::string::npos);
  EXPECT_FALSE(service_->add("c", "[{\"text\": \"a\"}", {}).has_value());
  EXPECT_FALSE(service_->add("no/name", body_of({kTea}), {}).has_value());
}

TEST_F(AnswerServiceTest, DocumentsComeBackAsTheyWereGiven) {
  add(body_of({kTea, kBread, "{\"text\": \"nameless\"}"}));
  EXPECT_EQ(*service_->document("c", "tea"), kTea);
  EXPECT_EQ(service_->document("c", "none").error().code, Code::NotFound);
  const auto all = service_->documents("c", "", 10);
  ASSERT_TRUE(all.has_value());
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0], kBread);
  EXPECT_TRUE((*all)[1].starts_with("{\"id\": \"doc-"));
  EXPECT_EQ(service_->documents("c", "soup", 10)->size(), 1U);
  EXPECT_FALSE(service_->documents("c", "", 0).has_value());
  EXPECT_TRUE(*service_->remove("c", "tea"));
  EXPECT_FALSE(*service_->remove("c", "tea"));
  EXPECT_TRUE(ask("green tea").answers.empty());
}

TEST_F(AnswerServiceTest, FiltersHoldForEveryRetrieval) {
  encoders_.put("words", "1", 64, true);
  add(body_of({kTea, kBread, kSoup}));
  const QueryReply reply = ask("tea", "blend", 5, false, "kind = \"food\"");
  ASSERT_EQ(reply.answers.size(), 2U);
  for (const Answer& answer : reply.answers) {
    EXPECT_NE(answer.id, "tea");
  }
  QueryRequest request;
  request.question = "x";
  request.filter = "kind = ";
  EXPECT_EQ(service_->query("c", request, {}).error().code, Code::InvalidArgument);
}

TEST_F(AnswerServiceTest, RequestsOutOfRangeAreRefused) {
  add(body_of({kTea}));
  QueryRequest request;
  EXPECT_EQ(service_->query("c", request, {}).error().field, "question");
  request.question = std::string(20'000, 'x');
  EXPECT_EQ(service_->query("c", request, {}).error().code, Code::TooLarge);
  request.question = "tea";
  request.top = 1001;
  EXPECT_EQ(service_->query("c", request, {}).error().field, "top");
  request.top = 1000;
  EXPECT_TRUE(service_->query("c", request, {}).has_value());
  request.pipeline = "hybrid";
  EXPECT_EQ(service_->query("c", request, {}).error().field, "pipeline");
  EXPECT_EQ(service_->query("none", request, {}).error().code, Code::NotFound);
}

std::string long_document() {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("Sentence number {} talks about nothing in particular at all here. ", i);
  }
  text += "The zebra eats grass by the river. ";
  for (int i = 60; i < 90; ++i) {
    text += fmt::format("Sentence number {} talks about nothing in particular at all here. ", i);
  }
  return base::dump_json({{"id", "long"}, {"title", "Animals"}, {"text", text}});
}

TEST_F(AnswerServiceTest, OneAnswerADocumentWithItsBestPassage) {
  encoders_.put("words", "1", 256, true);
  add(body_of({long_document(), kTea}));
  for (const std::string pipeline : {"bm25", "chunks", "blend", "document"}) {
    const QueryReply reply = ask("what does the zebra eat", pipeline);
    ASSERT_FALSE(reply.answers.empty());
    const Answer& answer = reply.answers[0];
    EXPECT_EQ(answer.id, "long") << pipeline;
    EXPECT_NE(answer.passage_id, "long#0") << pipeline;
    EXPECT_NE(answer.text.find("zebra"), std::string::npos) << pipeline;
    EXPECT_GT(answer.begin, 0U);
    EXPECT_EQ(answer.end - answer.begin, answer.text.size());
    ASSERT_TRUE(answer.span.has_value());
    EXPECT_EQ(answer.span->text, "The zebra eats grass by the river.");
    EXPECT_EQ(answer.text.substr(answer.span->begin, answer.span->end - answer.span->begin),
              answer.span->text);
  }
}

TEST_F(AnswerServiceTest, ChunkingOffStillBlends) {
  const auto encoder = encoders_.put("words", "1", 256, true);
  ASSERT_TRUE(*put(R"({"chunking": "off"})"));
  add(body_of({long_document(), kTea}));
  // Whole text and headings of each of the two, nothing for chunks.
  EXPECT_EQ(encoder->encoded, 4U);
  const QueryReply reply = ask("zebra grass", "", 5, true);
  EXPECT_EQ(reply.answers.at(0).passage_id, "long#0");
  EXPECT_EQ(reply.answers[0].retrievals[0].score, reply.answers[0].retrievals[2].score);
}

TEST_F(AnswerServiceTest, WhereDocumentsCameFromIsNoted) {
  add(body_of({kTea}));
  EXPECT_EQ(service_->info("c")->origins.names, (std::set<std::string>{""}));
  ASSERT_TRUE(service_->add_from({"/texts"}, "c", kBread, {}).has_value());
  open();
  EXPECT_EQ(service_->info("c")->origins.names, (std::set<std::string>{"", "/texts"}));
  EXPECT_EQ(service_->add_from({std::string(5000, 'x')}, "c", kSoup, {}).error().field, "origins");
  EXPECT_EQ(service_->document("c", "soup").error().code, Code::NotFound);
}

TEST_F(AnswerServiceTest, AModelSwitchKeepsWhatWasNotedMeanwhile) {
  encoders_.put("words", "1", 16, true);
  ASSERT_TRUE(service_->add_from({"/texts"}, "c", kTea, {}).has_value());
  const auto slow = encoders_.put("slow", "1", 16, false);
  slow->on_encode = [&] {
    // The switch has read its settings by now.
    slow->on_encode = {};
    std::thread([&] {
      EXPECT_TRUE(service_->add_from({"/rows.jsonl"}, "c", kBread, {}).has_value());
    }).join();
  };
  ASSERT_TRUE(put(R"({"model": "slow"})").has_value());
  EXPECT_EQ(service_->info("c")->settings.model, "slow@1");
  EXPECT_EQ(service_->info("c")->origins.names, (std::set<std::string>{"/rows.jsonl", "/texts"}));
}

TEST_F(AnswerServiceTest, SettingsMergeAndWrongOnesAreRefused) {
  encoders_.put("words", "1", 64, true);
  EXPECT_EQ(put(R"({"modl": "words"})").error().code, Code::InvalidArgument);
  EXPECT_EQ(put(R"({"model": "none"})").error().code, Code::NotFound);
  EXPECT_EQ(put(R"({"pipeline": "hybrid"})").error().field, "pipeline");
  EXPECT_FALSE(put(R"({"language": "klingon"})").has_value());
  EXPECT_TRUE(*put(R"({"pipeline": "document"})"));
  EXPECT_FALSE(*put(R"({"pipeline": "bm25"})"));
  const auto info = service_->info("c");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->settings.model, "words@1");
  EXPECT_EQ(info->settings.pipeline, "bm25");
  EXPECT_EQ(put(R"({"language": "de"})").error().code, Code::FailedPrecondition);
  EXPECT_EQ(put(R"({"chunking": {"tokens": 4}})").error().field, "chunking.tokens");
  EXPECT_EQ(put(R"({"chunking": {"tokens": 100, "overlap": 60}})").error().field,
            "chunking.overlap");
}

TEST_F(AnswerServiceTest, ModelSwitchRollbackAndFittedPipelines) {
  encoders_.put("words", "1", 64, true);
  const auto other = encoders_.put("other", "2", 96, false);
  encoders_.fitted_for = "other@2";
  encoders_.fitted = {{"blend", "3*document + bm25"}};
  add(body_of({kTea, kBread, kSoup}));
  ASSERT_TRUE(put(R"({"model": "other"})").has_value());
  QueryReply reply = ask("rye bread");
  EXPECT_EQ(reply.model, "other@2");
  EXPECT_EQ(reply.blend, "3*document + bm25");
  EXPECT_EQ(reply.answers.at(0).id, "bread");
  // A switch is no change of the documents.
  EXPECT_EQ(add(body_of({kTea, kBread, kSoup})).unchanged, 3U);
  EXPECT_EQ(service_->info("c")->settings.model, "other@2");

  ASSERT_TRUE(service_->rollback("c", true).has_value());
  EXPECT_EQ(ask("rye bread").model, "words@1");
  ASSERT_TRUE(service_->rollback("c", true).has_value());
  EXPECT_EQ(ask("rye bread").model, "other@2");
  open();  // Settings live in the store.
  EXPECT_EQ(ask("rye bread").model, "other@2");
  ASSERT_TRUE(put(R"({"model": ""})").has_value());
  EXPECT_EQ(ask("rye bread").notice, "no model: answered by BM25 alone");
}

TEST_F(AnswerServiceTest, FirstModelOfAVectorlessCollectionEncodesIt) {
  add(body_of({kTea, kBread}));
  EXPECT_EQ(service_->rollback("c", true).error().code, Code::FailedPrecondition);
  encoders_.put("words", "1", 64, true);
  ASSERT_TRUE(put(R"({"model": "words"})").has_value());
  const QueryReply reply = ask("green tea", "document");
  EXPECT_EQ(reply.pipeline, "document");
  EXPECT_EQ(reply.answers.at(0).id, "tea");
}

TEST_F(AnswerServiceTest, OtherChunkingCutsRowsAnew) {
  encoders_.put("words", "1", 256, true);
  ASSERT_TRUE(*put(R"({"chunking": "off"})"));
  add(body_of({long_document()}));
  EXPECT_EQ(ask("zebra").answers.at(0).passage_id, "long#0");
  ASSERT_TRUE(put(R"({"chunking": {"tokens": 50, "overlap": 0}})").has_value());
  EXPECT_NE(ask("zebra").answers.at(0).passage_id, "long#0");
  EXPECT_EQ(add(body_of({long_document()})).unchanged, 1U);
}

TEST_F(AnswerServiceTest, DroppedCollectionsAreGone) {
  add(body_of({kTea}));
  EXPECT_EQ(service_->collections(), std::vector<std::string>{"c"});
  ASSERT_TRUE(service_->compact("c", {}).has_value());
  ASSERT_TRUE(service_->drop("c").has_value());
  EXPECT_EQ(service_->info("c").error().code, Code::NotFound);
  EXPECT_EQ(service_->drop("c").error().code, Code::NotFound);
  EXPECT_EQ(add(body_of({kTea})).added, 1U);
}

// Writers that encode with the old model while the switch ends must not leave its vectors behind:
// both models have the same dimension, so the store alone could not tell.
TEST_F(AnswerServiceTest, RowsAddedDuringASwitchHaveTheNewModelsVectors) {
  encoders_.put("words", "1", 64, true);
  encoders_.put("other", "1", 64, false);
  std::string seeds;
  for (int i = 0; i < 200; ++i) {
    seeds += fmt::format("{{\"id\": \"seed{}\", \"text\": \"word{} alpha\"}}\n", i, i);
  }
  add(seeds);
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; i < 40 && !stop.stop_requested(); ++i) {
      add(fmt::format("{{\"id\": \"row{}\", \"text\": \"thing{} beta\"}}", i, i));
    }
  });
  ASSERT_TRUE(put(R"({"model": "other"})").has_value());
  writer.join();
  const auto encoder = *encoders_.find("other");
  const auto rows = *database_->find("c");
  const auto snapshot = rows->snapshot();
  EXPECT_EQ(snapshot->live_rows(), 240U);
  const auto refs = *snapshot->list("", 1000);
  for (const store::RowRef ref : refs) {
    const store::RowView row = *snapshot->row(ref);
    const auto vector = *encoder->encode(std::span(&row.texts[0], 1), {});
    const auto hit = *snapshot->score_vectors(0, vector.vectors, std::span(&ref, 1));
    EXPECT_NEAR(hit[0].score, 1, 1e-4) << row.id;
  }
}

TEST_F(AnswerServiceTest, StoppedAddSaysWhatIsStored) {
  std::stop_source stop;
  stop.request_stop();
  const auto report = service_->add("c", body_of({kTea}), stop.get_token());
  EXPECT_EQ(report.error().code, Code::Interrupted);
}

}  // namespace
}  // namespace sibyl::answer
