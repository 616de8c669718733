#include "server/internal/remote_models.h"

#include <atomic>
#include <chrono>
#include <condition_variable>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/json.h"
#include "server/internal/encoder_cache.h"

namespace sibyl::server {
namespace {

using base::Json;

/// A Seldon server in memory, in one version, in two by turns, or not there.
class SeldonDouble final : public encoder::RemoteTransport {
 public:
  Result<net::HttpReply> send(const net::HttpRequest& request, bool new_connection,
                              std::stop_token stop) override {
    const std::lock_guard lock(mutex_);
    ++requests_;
    if (stop.stop_requested()) {
      return fail(Code::Interrupted, "stopped");
    }
    if (version_.empty()) {
      return fail(Code::Unavailable, "connection refused");
    }
    // A connection that is kept leads to the same pod each time.
    const bool other = !canary_.empty() && new_connection && turns_++ % canary_every_ == 0;
    const Json body = *base::parse_json(request.body);
    Json rows = Json::array();
    for (const Json& row : body["data"]["ndarray"]) {
      const auto size = static_cast<float>(row[0].get<std::string>().size());
      rows.push_back(Json::array({vector_.empty() ? std::vector<float>{size, 1} : vector_}));
    }
    return net::HttpReply{
        200,
        {},
        base::dump_json(
            {{"data", {{"ndarray", rows}}},
             {"meta", {{"tags", {{"model", "m"}, {"version", other ? canary_ : version_}}}}}})};
  }
  bool wait(int64_t /*microseconds*/, std::stop_token stop) override {
    return stop.stop_requested();
  }

  /// One of `canary_every` new connections, the next one first, leads to the canary.
  void serve(const std::string& version, const std::string& canary = "", int canary_every = 2) {
    const std::lock_guard lock(mutex_);
    version_ = version;
    canary_every_ = canary_every;
    turns_ = 0;
    canary_ = canary;
  }
  /// Every text gets this vector.
  void answer_with(std::vector<float> vector) {
    const std::lock_guard lock(mutex_);
    vector_ = std::move(vector);
  }
  int requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::string version_;
  std::string canary_;
  std::vector<float> vector_;
  int canary_every_ = 2;
  int turns_ = 0;
  int requests_ = 0;
};

class RemoteModelsTest : public testing::Test {
 protected:
  RemoteModelsTest() {
    options_.transport = server_;
    options_.limits.failures_to_open = 1'000'000;
    watch_.look_ms = 1;
    watch_.look_absent_ms = 1;
    watch_.find_again_ms = 0;
    watch_.confirmation_pause_ms = 0;
  }
  std::unique_ptr<RemoteModels> open() {
    return *RemoteModels::open({"m=seldon+http://models"}, options_, watch_);
  }
  /// Starts looking and keeps what is told.
  void start(RemoteModels& models) {
    models.start([this](const answer::ServedModel& served) {
      const std::lock_guard lock(mutex_);
      told_.push_back(served);
      changed_.notify_all();
    });
  }
  answer::ServedModel wait_for(const std::string& version) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20),
                      [&] { return !told_.empty() && told_.back().version == version; });
    return told_.empty() ? answer::ServedModel{} : told_.back();
  }
  void wait_for_requests(int more) const {
    const int wanted = server_->requests() + more;
    while (server_->requests() < wanted) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::shared_ptr<SeldonDouble> server_ = std::make_shared<SeldonDouble>();
  encoder::RemoteOptions options_;
  RemoteWatch watch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<answer::ServedModel> told_;
};

TEST_F(RemoteModelsTest, AddressesAreCheckedBeforeAnybodyIsAsked) {
  const auto open = [this](std::vector<std::string> encoders) {
    return RemoteModels::open(encoders, options_, watch_);
  };
  EXPECT_EQ(open({}).error().field, "encoder");
  EXPECT_EQ(open({"m=x"}).error().code, Code::InvalidArgument);
  const auto twice = open({"m=seldon+http://a", "m=v2+http://b"});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("twice"), std::string::npos);
  const auto two = open({"m=seldon+http://a", "n=v2+http://b"});
  ASSERT_TRUE(two);
  EXPECT_TRUE((*two)->has("m") && (*two)->has("n"));
  EXPECT_FALSE((*two)->has("m@1"));
  EXPECT_EQ((*two)->first(), "m");
  EXPECT_EQ(server_->requests(), 0);
}

TEST_F(RemoteModelsTest, WhoAsksBeforeTheFirstLookCausesIt) {
  const auto models = open();
  const auto absent = models->find("m", "");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::Unavailable);
  EXPECT_NE(absent.error().message.find("not there yet"), std::string::npos);
  server_->serve("3");
  const auto found = models->find("m", "");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->info.reference(), "m@3");
  EXPECT_EQ(found->info.dimension, 2U);
  EXPECT_TRUE(models->find("m", "3"));
  EXPECT_EQ(models->find("m", "4").error().code, Code::FailedPrecondition);
}

TEST_F(RemoteModelsTest, AModelThatIsThereIsFoundWhenStartReturnsAndTold) {
  server_->serve("3");
  const auto models = open();
  start(*models);
  const int requests = server_->requests();
  EXPECT_TRUE(models->find("m", "3"));
  EXPECT_GE(requests, 1);
  EXPECT_EQ(wait_for("3").before, "");
}

TEST_F(RemoteModelsTest, TheFirstLookMayMeetACanaryAndIsNotBelieved) {
  server_->serve("3", "4", 10);
  const auto models = open();
  start(*models);
  EXPECT_EQ(wait_for("3").before, "");
  EXPECT_TRUE(models->find("m", "3"));
  wait_for_requests(100);
  const std::lock_guard lock(mutex_);
  for (const answer::ServedModel& served : told_) {
    EXPECT_EQ(served.version, "3");
  }
}

TEST_F(RemoteModelsTest, NothingIsToldAfterAStartWhileTwoVersionsAnswerInTurns) {
  server_->serve("3", "4");
  const auto models = open();
  start(*models);
  wait_for_requests(200);
  EXPECT_TRUE(models->find("m", "")) << "it is used nevertheless";
  {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(told_.empty());
  }
  server_->serve("4");
  EXPECT_EQ(wait_for("4").before, "") << "none was believed before";
}

TEST_F(RemoteModelsTest, AModelThatComesLaterAndChangesIsTold) {
  const auto models = open();
  start(*models);
  {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(told_.empty());
  }
  server_->serve("3");
  EXPECT_EQ(wait_for("3").before, "");
  server_->serve("");
  wait_for_requests(2);
  EXPECT_TRUE(models->find("m", "3")) << "its vectors are known; asking for more fails for now";
  server_->serve("4");
  EXPECT_EQ(wait_for("4").before, "3");
  EXPECT_FALSE(models->find("m", "3"));
  server_->serve("3");
  EXPECT_EQ(wait_for("3").before, "4");
}

TEST_F(RemoteModelsTest, ACanaryIsNotTakenForANewVersion) {
  server_->serve("3");
  const auto models = open();
  start(*models);
  wait_for("3");
  server_->serve("3", "4");
  wait_for_requests(200);
  EXPECT_TRUE(models->find("m", "3"));
  {
    const std::lock_guard lock(mutex_);
    for (const answer::ServedModel& served : told_) {
      EXPECT_EQ(served.version, "3");
    }
  }
  // Texts meanwhile get vectors of the one version alone.
  const auto found = models->find("m", "3");
  const auto encoder = found->model->encoder(found->info, nullptr);
  const std::string_view text = "why?";
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(encoder->encode(std::span(&text, 1), {}));
  }
  server_->serve("4");
  EXPECT_EQ(wait_for("4").before, "3");
}

TEST_F(RemoteModelsTest, NothingIsToldAfterStopAndStopWaitsForNoPause) {
  watch_.look_ms = 3'600'000;
  server_->serve("3");
  const auto models = open();
  start(*models);
  wait_for("3");
  models->stop();
  const size_t told = told_.size();
  models->stop();
  EXPECT_EQ(told_.size(), told);
}

/// The registry's copy beside the served model.
class RemoteCopyTest : public RemoteModelsTest {
 protected:
  void SetUp() override {
    registry_ = *model::Registry::open(folder_.path() + "/models");
    restart();
  }
  void restart() {
    cache_ = std::make_unique<EncoderCache>(*registry_, 2);
    cache_->serve_from(open(), *ModelSamples::open(folder_.path() + "/model-samples"));
  }
  /// Puts a copy of model "m" here, as version 1; its vector of the sample text.
  std::vector<float> import_copy() {
    EXPECT_TRUE(registry_->import(std::string(SIBYL_TEST_DATA) + "/model/static", "m"));
    EncoderCache local(*registry_, 1);
    const std::string_view text = encoder::kSampleText;
    return (*local.find("m@1"))->encode(std::span(&text, 1), {})->vectors;
  }
  static std::vector<float> of_another_model(std::vector<float> vector) {
    vector.front() += 0.01F;
    return vector;
  }
  Result<encoder::EncodedTexts> encode(const std::string& reference) {
    auto encoder = cache_->find(reference);
    if (!encoder) {
      return pass_on(encoder);
    }
    const std::string_view text = "hello";
    return (*encoder)->encode(std::span(&text, 1), {});
  }

  base::TemporaryDirectory folder_;
  std::unique_ptr<model::Registry> registry_;
  std::unique_ptr<EncoderCache> cache_;
};

TEST_F(RemoteCopyTest, ABareNameMeansTheServedModelAndTheFirstIsTheDefault) {
  EXPECT_EQ(cache_->find("m").error().code, Code::Unavailable);
  EXPECT_EQ(cache_->find("").error().code, Code::Unavailable);
  EXPECT_EQ(cache_->find("other").error().code, Code::NotFound);
  EXPECT_EQ(cache_->served_name(""), "m");
  EXPECT_EQ(cache_->served_name("m"), "m");
  EXPECT_EQ(cache_->served_name("m@3"), "");
  EXPECT_EQ(cache_->served_name("other"), "");
  server_->serve("3");
  EXPECT_EQ((*cache_->find(""))->info().reference(), "m@3");
  EXPECT_EQ(encode("m@3")->vectors, (std::vector<float>{5, 1}));
  EXPECT_EQ(cache_->find("m@4").error().code, Code::FailedPrecondition);
}

TEST_F(RemoteCopyTest, AVersionThatWasNeverServedIsTheCopyHere) {
  import_copy();
  server_->serve("3");
  ASSERT_TRUE(cache_->find("m"));
  const auto copy = cache_->find("m@1");
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_NE((*copy)->tokenizer(), nullptr);
  EXPECT_EQ((*cache_->find("m"))->tokenizer(), nullptr) << "version 3 is not here";
}

TEST_F(RemoteCopyTest, TheServedModelItselfStandsInWhileItIsAwayOrServedInAnotherVersion) {
  server_->answer_with(import_copy());
  server_->serve("1");
  ASSERT_TRUE(encode("m@1"));
  server_->serve("");
  EXPECT_TRUE(encode("m@1"));
  restart();
  EXPECT_TRUE(encode("m@1"));
  server_->serve("2");
  restart();
  EXPECT_TRUE(encode("m@1"));
}

TEST_F(RemoteCopyTest, AModelThatMerelyHasTheNameDoesNotStandIn) {
  server_->answer_with(of_another_model(import_copy()));
  server_->serve("1");
  ASSERT_TRUE(encode("m@1"));
  server_->serve("");
  const auto away = encode("m@1");
  ASSERT_FALSE(away) << "its vectors are of the same dimension";
  EXPECT_EQ(away.error().code, Code::Unavailable);
  restart();
  EXPECT_EQ(encode("m@1").error().code, Code::Unavailable) << "also after a restart";
  server_->serve("2");
  restart();
  EXPECT_EQ(encode("m@1").error().code, Code::FailedPrecondition) << "nor as the version before";
  EXPECT_TRUE(encode("m@2"));
}

TEST_F(RemoteCopyTest, AServedModelIsRefusedWhereVectorsOfItsNameAreOfAnotherCopy) {
  const std::vector<float> copy = import_copy();
  ASSERT_TRUE(encode("m@1")) << "published here, and not rolled out yet";
  server_->answer_with(of_another_model(copy));
  server_->serve("1");
  restart();
  const auto other = encode("m@1");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::FailedPrecondition);
  EXPECT_NE(other.error().message.find("publish it as a new version"), std::string::npos);
  server_->answer_with(copy);
  restart();
  EXPECT_TRUE(encode("m@1"));
}

TEST_F(RemoteCopyTest, ACopyOfAnotherDimensionDoesNotStandIn) {
  import_copy();
  server_->serve("1");
  ASSERT_TRUE(encode("m@1"));
  server_->serve("");
  EXPECT_EQ(encode("m@1").error().code, Code::Unavailable);
}

}  // namespace
}  // namespace sibyl::server
