#include <atomic>
#include <cmath>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answer/answer_service.h"
#include "answer/internal/test_encoders.h"
#include "base/file_system.h"
#include "base/json.h"

namespace sibyl::answer {
namespace {

constexpr std::string_view kTea =
    R"({"id": "tea", "title": "Green tea", "text": "Brew green tea at eighty degrees."})";
constexpr std::string_view kBread =
    R"({"id": "bread", "title": "Rye bread", "text": "Bake rye bread for an hour."})";

/// One model, "desk", that is served elsewhere: in no version, or in one. Versions in `copies` are
/// also here.
class ServedDouble final : public EncoderSource {
 public:
  Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) override {
    const std::lock_guard lock(mutex_);
    const std::string name = reference.empty() ? "desk" : reference;
    if (!name.starts_with("desk")) {
      return fail(Code::NotFound, "model '{}' is not there", name);
    }
    const std::string version = name.size() > 5 ? name.substr(5) : served_;
    if (!version.empty() && (version == served_ || copies_.contains(version))) {
      return std::shared_ptr<encoder::Encoder>(encoder(version));
    }
    return served_.empty() ? fail(Code::Unavailable, "model 'desk' is not there yet")
                           : fail(Code::FailedPrecondition, "version {} is served", served_);
  }
  std::map<std::string, std::string> pipelines(const std::string& /*reference*/) override {
    return {};
  }
  std::string served_name(const std::string& reference) override {
    return is_elsewhere_ && (reference.empty() || reference == "desk") ? "desk" : "";
  }
  /// As after a start without the model server: copies alone are there.
  void stop_serving() {
    is_elsewhere_ = false;
    serve("");
  }

  void serve(const std::string& version) {
    const std::lock_guard lock(mutex_);
    served_ = version;
  }
  void keep_copy(const std::string& version) {
    const std::lock_guard lock(mutex_);
    copies_.insert(version);
  }
  std::shared_ptr<internal::WordEncoder> encoder_of(const std::string& version) {
    const std::lock_guard lock(mutex_);
    return encoder(version);
  }

 private:
  std::shared_ptr<internal::WordEncoder> encoder(const std::string& version) {
    auto& made = encoders_[version];
    if (made == nullptr) {
      made = std::make_shared<internal::WordEncoder>("desk", version, 64);
    }
    return made;
  }

  std::mutex mutex_;
  std::atomic<bool> is_elsewhere_ = true;
  std::string served_;
  std::set<std::string> copies_;
  std::map<std::string, std::shared_ptr<internal::WordEncoder>> encoders_;
};

class FollowModelTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    service_.reset();
    database_.reset();
    auto database = store::Database::open(folder_.path(), {});
    ASSERT_TRUE(database) << database.error().message;
    database_ = std::move(*database);
    service_ = AnswerService::create(*database_, models_);
  }
  AddReport add(std::string_view document) {
    auto report = service_->add("c", document, {});
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : AddReport{};
  }
  QueryReply ask(const std::string& question, const std::string& pipeline = "document") {
    QueryRequest request;
    request.question = question;
    request.pipeline = pipeline;
    auto reply = service_->query("c", request, {});
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *reply : QueryReply{};
  }
  CollectionInfo info() {
    auto info = service_->info("c");
    EXPECT_TRUE(info);
    return info ? *info : CollectionInfo{};
  }
  /// Tells the service what is served, and waits for what it begins.
  void follow(const std::string& version, const std::string& before = "") {
    models_.serve(version);
    service_->follow({"desk", version, before});
    while (!info().switching_to.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(info().switch_error, "");
  }
  void expect_vectors_of(const std::string& version) {
    const QueryReply reply = ask("green tea");
    EXPECT_EQ(reply.notice, "");
    EXPECT_EQ(reply.pipeline, "document");
    EXPECT_EQ(reply.model, "desk@" + version);
    ASSERT_FALSE(reply.answers.empty());
    EXPECT_EQ(reply.answers.front().id, "tea");
    EXPECT_GT(reply.answers.front().retrievals[0].score, 0.1F);
  }

  base::TemporaryDirectory folder_;
  ServedDouble models_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<AnswerService> service_;
};

TEST_F(FollowModelTest, ACollectionThatIsThereBeforeItsModelGetsVectorsWhenItComes) {
  EXPECT_EQ(add(kTea).added, 1U);
  EXPECT_EQ(info().awaited_model, "desk");
  EXPECT_EQ(info().settings.model, "");
  const QueryReply before = ask("green tea");
  EXPECT_EQ(before.answers.at(0).id, "tea");
  EXPECT_EQ(before.notice, "model 'desk' is not there yet: answered by BM25 alone");
  open();  // it is noted in the store
  EXPECT_EQ(info().awaited_model, "desk");
  EXPECT_EQ(add(kTea).unchanged, 1U);
  follow("3");
  EXPECT_EQ(info().awaited_model, "");
  EXPECT_EQ(info().settings.model, "desk@3");
  expect_vectors_of("3");
  const auto calls = models_.encoder_of("3")->calls.load();
  EXPECT_EQ(add(kTea).unchanged, 1U);
  follow("3");
  EXPECT_EQ(models_.encoder_of("3")->calls.load(), calls) << "nothing is made twice";
}

TEST_F(FollowModelTest, ACollectionMadeForItWaitsToo) {
  const auto created =
      service_->put_collection("c", *base::parse_json(R"({"model": "desk"})"), true);
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_TRUE(*created);
  EXPECT_EQ(info().awaited_model, "desk");
  const auto exact =
      service_->put_collection("d", *base::parse_json(R"({"model": "desk@3"})"), true);
  ASSERT_FALSE(exact) << "a version that nobody has cannot be promised";
  EXPECT_EQ(exact.error().code, Code::Unavailable);
  const auto later =
      service_->put_collection("c", *base::parse_json(R"({"pipeline": "bm25"})"), true);
  ASSERT_TRUE(later);
  EXPECT_EQ(info().awaited_model, "desk") << "other settings leave it waiting";
  follow("1");
  EXPECT_EQ(info().settings.model, "desk@1");
}

TEST_F(FollowModelTest, AModelThatIsAwayIsReplacedByBm25AndSaysSo) {
  models_.serve("3");
  add(kTea);
  add(kBread);
  expect_vectors_of("3");
  models_.serve("");
  for (const char* pipeline : {"document", "blend", "4*document + chunks", "bm25"}) {
    const QueryReply reply = ask("rye bread", pipeline);
    EXPECT_EQ(reply.answers.at(0).id, "bread") << pipeline;
    EXPECT_EQ(reply.pipeline, "bm25") << pipeline;
    const bool needs_model = std::string_view(pipeline) != "bm25";
    EXPECT_EQ(reply.without_model, needs_model) << pipeline;
    EXPECT_EQ(reply.notice,
              needs_model ? "answered by BM25 alone: model 'desk' is not there yet" : "");
  }
  models_.serve("3");
  expect_vectors_of("3");
}

TEST_F(FollowModelTest, AModelThatFailsInTheMiddleIsReplacedToo) {
  models_.serve("3");
  add(kTea);
  models_.encoder_of("3")->fails_with = Error{Code::DeadlineExceeded, "too slow", {}};
  const QueryReply reply = ask("green tea");
  EXPECT_EQ(reply.notice, "answered by BM25 alone: too slow");
  EXPECT_EQ(reply.answers.at(0).id, "tea");
}

TEST_F(FollowModelTest, RowsAddedWhileItIsAwayGetTheirVectorsLater) {
  models_.serve("3");
  add(kBread);
  models_.serve("");
  const AddReport report = add(kTea);
  EXPECT_EQ(report.added, 1U);
  EXPECT_EQ(report.waiting, 1U);
  EXPECT_TRUE(info().rows_wait);
  EXPECT_EQ(ask("green tea").answers.at(0).id, "tea") << "words find it meanwhile";
  EXPECT_EQ(add(kTea).unchanged, 1U) << "the same document twice changes nothing";
  open();
  EXPECT_TRUE(info().rows_wait);
  models_.serve("3");
  EXPECT_EQ(ask("green tea").notice, "");
  follow("3");
  EXPECT_FALSE(info().rows_wait);
  expect_vectors_of("3");
  EXPECT_EQ(add(kTea).unchanged, 1U);
  EXPECT_EQ(info().statistics.live_rows, 2U);
}

TEST_F(FollowModelTest, OneDocumentThatTheModelRefusesKeepsNoOtherWithoutVectors) {
  for (const Code code : {Code::TooLarge, Code::Unavailable}) {
    models_.serve("3");
    add(kBread);
    models_.serve("");
    add(R"({"id": "huge", "text": "A word that is unbearable."})");
    EXPECT_EQ(add(kTea).waiting, 1U);
    const auto model = models_.encoder_of("3");
    model->refused_word = "unbearable";
    model->refused_with = Error{code, "a text is too long", {}};
    follow("3");
    EXPECT_FALSE(info().rows_wait) << "the pass is over, it is not made again every minute";
    expect_vectors_of("3");
    EXPECT_EQ(ask("unbearable word", "bm25").answers.at(0).id, "huge");
    model->refused_word.clear();
    EXPECT_EQ(add(R"({"id": "huge", "text": "A word that is unbearable."})").updated, 1U)
        << "whoever adds it again tries again";
    ASSERT_TRUE(service_->drop("c"));
  }
}

TEST_F(FollowModelTest, ANewVersionThatRefusesADocumentIsStillSwitchedTo) {
  models_.serve("3");
  add(R"({"id": "huge", "text": "A word that is unbearable."})");
  add(kTea);
  const auto next = models_.encoder_of("4");
  next->refused_word = "unbearable";
  for (const Code code : {Code::TooLarge, Code::Unavailable}) {
    next->refused_with = Error{code, "a text is too long", {}};
    follow("4", "3");
    expect_vectors_of("4");
    EXPECT_EQ(ask("unbearable word", "bm25").answers.at(0).id, "huge");
    follow("3", "4");
  }
}

TEST_F(FollowModelTest, APassThatFailsLeavesRowsWaiting) {
  models_.serve("3");
  add(kBread);
  models_.serve("");
  add(kTea);
  models_.encoder_of("3")->fails_with = Error{Code::Internal, "broken", {}};
  models_.serve("3");
  service_->follow({"desk", "3", ""});
  while (!info().switching_to.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_NE(info().switch_error.find("broken"), std::string::npos);
  EXPECT_TRUE(info().rows_wait);
  models_.encoder_of("3")->fails_with.reset();
  ASSERT_TRUE(service_->put_collection("c", *base::parse_json(R"({"model": "desk@3"})"), true));
  EXPECT_FALSE(info().rows_wait);
  expect_vectors_of("3");
}

TEST_F(FollowModelTest, RowsWhoseModelIsNoLongerServedElsewhereAreMadeWhenAddedAgain) {
  models_.serve("3");
  add(kBread);
  models_.serve("");
  EXPECT_EQ(add(kTea).waiting, 1U);
  models_.keep_copy("3");
  models_.stop_serving();
  const AddReport report = add(kTea);
  EXPECT_EQ(report.updated, 1U);
  EXPECT_EQ(report.waiting, 0U);
  expect_vectors_of("3");
}

TEST_F(FollowModelTest, AModelOfThisServerThatFailsIsAnErrorAndNothingWaits) {
  models_.keep_copy("3");
  models_.stop_serving();
  ASSERT_TRUE(service_->put_collection("c", *base::parse_json(R"({"model": "desk@3"})"), true));
  models_.encoder_of("3")->fails_with = Error{Code::ResourceExhausted, "no memory", {}};
  const auto report = service_->add("c", kTea, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::ResourceExhausted);
  EXPECT_FALSE(info().rows_wait);
  EXPECT_EQ(info().statistics.live_rows, 0U);
  models_.encoder_of("3")->fails_with.reset();
  EXPECT_EQ(add(kTea).added, 1U);
  expect_vectors_of("3");
}

TEST_F(FollowModelTest, RowsThatWaitAreFoundByWordsBesideVectorsOfOthers) {
  models_.serve("3");
  add(kBread);
  models_.encoder_of("3")->fails_with = Error{Code::Unavailable, "gone", {}};
  EXPECT_EQ(add(kTea).waiting, 1U);
  models_.encoder_of("3")->fails_with.reset();
  const QueryReply reply = ask("green tea", "blend");
  EXPECT_EQ(reply.notice, "");
  ASSERT_EQ(reply.answers.size(), 2U);
  for (const Answer& answer : reply.answers) {
    EXPECT_TRUE(std::isfinite(answer.score));
    EXPECT_GT(answer.score, -1000);
  }
}

TEST_F(FollowModelTest, WhatTheTextIsWrongForIsStillRefused) {
  models_.serve("3");
  models_.encoder_of("3")->fails_with = Error{Code::TooLarge, "a text is too long", {}};
  const auto report = service_->add("c", kTea, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::TooLarge);
}

TEST_F(FollowModelTest, ANewVersionReencodesTheCollection) {
  models_.serve("3");
  add(kTea);
  add(kBread);
  models_.serve("4");
  EXPECT_EQ(ask("green tea").notice, "answered by BM25 alone: version 4 is served");
  EXPECT_EQ(add(R"({"id": "new", "text": "Fry the onions."})").waiting, 1U);
  follow("4", "3");
  expect_vectors_of("4");
  EXPECT_FALSE(info().rows_wait);
  EXPECT_EQ(ask("fry onions").answers.at(0).id, "new");
  // Rolled back: the collection goes with it.
  follow("3", "4");
  expect_vectors_of("3");
}

TEST_F(FollowModelTest, AVersionRolledOutWhileTheServerWasDownIsFollowed) {
  models_.serve("9");
  models_.keep_copy("9");
  add(kTea);
  follow("10");
  expect_vectors_of("10");
}

TEST_F(FollowModelTest, ANewerVersionWithACopyHereStaysUntilItIsServed) {
  models_.serve("3");
  add(kTea);
  models_.keep_copy("4");
  ASSERT_TRUE(service_->put_collection("c", *base::parse_json(R"({"model": "desk@4"})"), true));
  expect_vectors_of("4");
  follow("3", "2");
  expect_vectors_of("4");
  const auto calls = models_.encoder_of("4")->encoded.load();
  follow("4", "3");
  EXPECT_EQ(models_.encoder_of("4")->encoded.load(), calls);
  expect_vectors_of("4");
}

TEST_F(FollowModelTest, ANewerVersionThatNobodyHasGivesWay) {
  models_.serve("4");
  add(kTea);
  follow("3");
  expect_vectors_of("3");
}

TEST_F(FollowModelTest, CollectionsOfOtherModelsAreLeftAlone) {
  ASSERT_TRUE(service_->put_collection("c", *base::parse_json(R"({"model": ""})"), true));
  add(kTea);
  follow("3");
  EXPECT_EQ(info().settings.model, "");
  EXPECT_EQ(ask("green tea").notice, "no model: answered by BM25 alone");
}

TEST_F(FollowModelTest, ASwitchOutlivesAShortAbsence) {
  models_.serve("3");
  add(kTea);
  auto next = models_.encoder_of("4");
  next->fails_with = Error{Code::Unavailable, "gone for a moment", {}};
  next->failures_left = 2;
  follow("4", "3");
  expect_vectors_of("4");
}

}  // namespace
}  // namespace sibyl::answer
