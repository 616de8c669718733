#include "job/internal/model_store.h"

#include <chrono>

#include "store_double.h"

namespace sibyl::job::internal {
namespace {

class ModelStoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { double_ = new StoreDouble(); }
  static void TearDownTestSuite() {
    delete double_;
    double_ = nullptr;
  }
  void SetUp() override {
    double_->control({{"faults", base::Json::array()}, {"conditions", "known"}});
    name_ = testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static ModelStore store(double settle_seconds = 0.01) {
    auto opened = ModelStore::open("s3://bucket/prefix", double_->options(), {}, settle_seconds);
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
  /// A model directory that differs from others by `weights`.
  std::string model(const std::string& weights) {
    const std::string folder = base::join_path(folder_.path(), weights);
    EXPECT_TRUE(base::real_file_system().create_directories(folder + "/1_Pooling"));
    EXPECT_TRUE(base::replace_file(folder + "/model.safetensors", weights));
    EXPECT_TRUE(base::replace_file(folder + "/1_Pooling/config.json", "{}"));
    model::Provenance provenance;
    provenance.created = "2026-11-30T00:00:00Z";
    EXPECT_TRUE(model::write_provenance(folder, provenance));
    return folder;
  }
  Result<std::string> publish(const std::string& folder, const std::string& wanted = {}) const {
    return store().publish(name_, folder, *model::read_provenance(folder), wanted);
  }
  std::string text(const std::string& rest) const {
    return double_->control()["texts"].value("bucket/prefix/models/" + name_ + "/" + rest, "");
  }

  static StoreDouble* double_;
  std::string name_;
  base::TemporaryDirectory folder_;
};
StoreDouble* ModelStoreTest::double_ = nullptr;

TEST_F(ModelStoreTest, VersionsCountUpAndTheSameModelIsOne) {
  EXPECT_EQ(*publish(model("one")), "1");
  EXPECT_EQ(*publish(model("one")), "1");
  EXPECT_EQ(*publish(model("two")), "2");
  EXPECT_EQ(text("2/model.safetensors"), "two");
  EXPECT_EQ(text("2/1_Pooling/config.json"), "{}");
  EXPECT_NE(text("2/sibyl.json").find("\"version\": \"2\""), std::string::npos);
}

TEST_F(ModelStoreTest, TheVersionOfTheRegistryIsKeptUnlessAnotherModelHasIt) {
  EXPECT_EQ(*publish(model("one"), "7"), "7");
  EXPECT_EQ(*publish(model("one"), "7"), "7");
  EXPECT_EQ(*publish(model("other"), "7"), "8");
  EXPECT_EQ(*publish(model("old"), "3"), "3");
  EXPECT_EQ(text("7/model.safetensors"), "one");
}

TEST_F(ModelStoreTest, AVersionIsWholeOrNotThere) {
  double_->fail_next(
      {{"method", "PUT"}, {"match", "model.safetensors"}, {"count", 99}, {"status", 403}});
  EXPECT_EQ(publish(model("one")).error().code, Code::PermissionDenied);
  const auto half = store().point(name_, "current", "1");
  EXPECT_EQ(half.error().code, Code::NotFound);
  EXPECT_EQ(text("current"), "");
  double_->control({{"faults", base::Json::array()}});
  EXPECT_EQ(*publish(model("one")), "1") << "what was begun goes on";
  EXPECT_TRUE(store().point(name_, "current", "1"));
  EXPECT_EQ(text("current"), "{\"version\":\"1\"}\n");
  EXPECT_EQ(text("1/model.safetensors"), "one");
}

TEST_F(ModelStoreTest, AnAnswerThatWasLostTakesNoSecondVersion) {
  double_->fail_next({{"method", "PUT"}, {"match", "claim"}, {"lost", true}});
  EXPECT_EQ(*publish(model("one")), "1");
  EXPECT_EQ(text("2/claim"), "");
}

TEST_F(ModelStoreTest, NoVersionIsReplacedWhateverTheStoreKnowsOfConditions) {
  for (const char* const conditions : {"ignored", "refused"}) {
    double_->control({{"conditions", conditions}});
    name_ = std::string("of-") + conditions;
    EXPECT_EQ(*publish(model("one")), "1");
    EXPECT_EQ(*publish(model("two")), "2");
    EXPECT_EQ(*publish(model("one"), "1"), "1");
    EXPECT_EQ(*publish(model("three"), "1"), "3");
    EXPECT_EQ(text("1/model.safetensors"), "one");
    EXPECT_EQ(text("2/model.safetensors"), "two");
  }
}

TEST_F(ModelStoreTest, AClaimThatIsReplacedWithinTheSettlingIsSeen) {
  // Where conditions are ignored a claim is put twice, to see that they are.
  for (const auto& [conditions, puts] : {std::pair("ignored", 2), std::pair("refused", 1)}) {
    name_ = std::string("raced-") + conditions;
    double_->control({{"conditions", conditions},
                      {"races",
                       {{"bucket/prefix/models/" + name_ + "/1/claim",
                         {{"puts", puts}, {"text", "another"}}}}}});
    const std::string folder = model("one");
    const auto version = store(0.01).publish(name_, folder, *model::read_provenance(folder), {});
    ASSERT_TRUE(version) << version.error().message;
    EXPECT_EQ(*version, "2") << conditions;
    EXPECT_EQ(text("1/claim"), "another");
    EXPECT_EQ(text("1/model.safetensors"), "");
    EXPECT_EQ(text("2/model.safetensors"), "one");
  }
}

TEST_F(ModelStoreTest, AStoreThatDecidesIsNotWaitedFor) {
  const std::string folder = model("one");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(*store(3600).publish(name_, folder, *model::read_provenance(folder), {}), "1");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(10));
}

TEST_F(ModelStoreTest, AVersionThatWasCopiedThereIsNotReplaced) {
  const std::string at = "bucket/prefix/models/" + name_;
  double_->control({{"put",
                     {{at + "/3/sibyl.json", "{}"},
                      {at + "/3/model.safetensors", "copied"},
                      {at + "/5/model.safetensors", "its copy goes on"}}}});
  EXPECT_EQ(*publish(model("one"), "3"), "6");
  EXPECT_EQ(*publish(model("two")), "7");
  EXPECT_EQ(text("3/model.safetensors"), "copied");
  EXPECT_EQ(text("3/claim"), "");
  EXPECT_EQ(text("5/claim"), "");
}

TEST_F(ModelStoreTest, AStoreThatIsAwayIsWaitedFor) {
  double_->fail_next({{"match", "claim"}, {"count", 9}, {"status", 503}});
  EXPECT_EQ(*publish(model("one")), "1");
}

TEST_F(ModelStoreTest, AWrongStoreIsNamed) {
  const auto wrong = ModelStore::open("https://bucket/prefix", double_->options(), {});
  EXPECT_EQ(wrong.error().code, Code::InvalidConfig);
  EXPECT_EQ(wrong.error().field, "SIBYL_STORE");
}

}  // namespace
}  // namespace sibyl::job::internal
