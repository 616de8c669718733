#include "net/object_store.h"

#include <thread>

#include "net/canned_server.h"
#include "store_double.h"

namespace sibyl::net {
namespace {

class ObjectStoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { double_ = new StoreDouble(); }
  static void TearDownTestSuite() {
    delete double_;
    double_ = nullptr;
  }
  void SetUp() override { double_->control({{"faults", base::Json::array()}, {"page", 1000}}); }
  static std::unique_ptr<ObjectStore> store(ObjectStoreOptions options = double_->options(),
                                            std::stop_token stop = {}) {
    auto opened = ObjectStore::open(std::move(options), "bucket", std::move(stop));
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  std::string path(const std::string& name) const { return base::join_path(folder_.path(), name); }

  static StoreDouble* double_;
  base::TemporaryDirectory folder_;
};
StoreDouble* ObjectStoreTest::double_ = nullptr;

TEST_F(ObjectStoreTest, WhatIsPutIsGotAndListedAndRemoved) {
  const auto objects = store();
  const std::string odd = "basic/ü a+b=&<c>'~!.txt";
  ASSERT_TRUE(objects->put(odd, std::string("a\0b", 3)));
  ASSERT_TRUE(objects->put("basic/second", ""));
  EXPECT_EQ(*objects->get(odd, 100), std::string("a\0b", 3));
  EXPECT_EQ(objects->get(odd, 2).error().code, Code::TooLarge);
  const auto listed = objects->list("basic/");
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ((*listed)[1].key, odd);
  EXPECT_EQ((*listed)[1].bytes, 3U);
  EXPECT_TRUE(objects->remove(odd));
  EXPECT_TRUE(objects->remove(odd));
  const auto gone = objects->get(odd, 100);
  EXPECT_EQ(gone.error().code, Code::NotFound);
  EXPECT_NE(gone.error().message.find("s3://bucket/basic/"), std::string::npos);
}

TEST_F(ObjectStoreTest, AListingOfManyPagesIsReadWholeAndBounded) {
  const auto objects = store();
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(objects->put(fmt::format("pages/{}", i), "x"));
  }
  double_->control({{"page", 2}});
  EXPECT_EQ(objects->list("pages/")->size(), 7U);
  EXPECT_EQ(objects->list("pages/", 3).error().code, Code::ResourceExhausted);
}

TEST_F(ObjectStoreTest, AListingOfEmptyPagesEnds) {
  double_->control({{"endless", true}});
  const auto listed = store()->list("nothing/");
  double_->control({{"endless", false}});
  EXPECT_EQ(listed.error().code, Code::InvalidData);
}

TEST_F(ObjectStoreTest, AConditionalPutDoesNotReplace) {
  const auto objects = store();
  ASSERT_TRUE(objects->put("claim", "first", PutCondition::IfAbsent));
  EXPECT_EQ(objects->put("claim", "second", PutCondition::IfAbsent).error().code,
            Code::AlreadyExists);
  EXPECT_EQ(*objects->get("claim", 100), "first");
}

TEST_F(ObjectStoreTest, FilesOfAllSizesComeBackAsTheyWere) {
  ObjectStoreOptions options = double_->options();
  options.part_bytes = 1000;
  const auto objects = store(options);
  for (const size_t bytes : {0U, 1U, 999U, 1000U, 1001U, 2000U, 12'345U}) {
    std::string content;
    for (size_t i = 0; i < bytes; ++i) {
      content += static_cast<char>(i * i % 251);
    }
    ASSERT_TRUE(base::replace_file(path("in"), content));
    const auto put = objects->put_file("file", path("in"));
    ASSERT_TRUE(put) << put.error().message;
    const auto got = objects->get_file("file", path("out"));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*base::read_file(path("out")), content) << bytes;
  }
  EXPECT_EQ(double_->control()["uploads"], 0);
  double_->control({{"ranges", false}});
  EXPECT_TRUE(objects->get_file("file", path("whole")));
  double_->control({{"ranges", true}});
  EXPECT_EQ(base::read_file(path("whole"))->size(), 12'345U);
}

TEST_F(ObjectStoreTest, FailuresOfTheStoreAreTriedAgain) {
  const auto objects = store();
  ASSERT_TRUE(objects->put("again", "value"));
  for (const base::Json& fault :
       {base::Json({{"match", "again"}, {"count", 3}, {"status", 503}, {"code", "SlowDown"}}),
        base::Json({{"match", "again"}, {"count", 2}, {"status", 500}}),
        base::Json({{"match", "again"}, {"count", 2}, {"cut", true}}),
        base::Json({{"match", "again"}, {"count", 1}, {"lost", true}})}) {
    double_->fail_next(fault);
    const auto got = objects->get("again", 100);
    ASSERT_TRUE(got) << base::dump_json(fault) << got.error().message;
    EXPECT_EQ(*got, "value");
  }
  double_->fail_next({{"match", "again"}, {"count", 100}, {"status", 503}});
  const auto never = objects->get("again", 100);
  EXPECT_EQ(never.error().code, Code::Unavailable);
  EXPECT_NE(never.error().message.find("503"), std::string::npos);
  ObjectStoreOptions options = double_->options();
  options.patience_ms = 60'000;
  double_->fail_next({{"match", "again"}, {"count", 9}, {"status", 503}});
  EXPECT_TRUE(store(options)->get("again", 100)) << "more than the usual number of tries";
  const size_t before = double_->control()["log"].size();
  double_->fail_next({{"match", "again"}, {"count", 9}, {"status", 501}});
  EXPECT_EQ(objects->get("again", 100).error().code, Code::Unimplemented);
  EXPECT_EQ(double_->control()["log"].size(), before + 1);
}

TEST_F(ObjectStoreTest, AStoppedUploadLeavesNoParts) {
  ObjectStoreOptions options = double_->options();
  options.part_bytes = 1000;
  ASSERT_TRUE(base::replace_file(path("in"), std::string(5'500, 'x')));
  double_->fail_next({{"method", "PUT"}, {"match", "partNumber=3"}, {"hang_s", 5}});
  std::stop_source stop;
  std::thread stopper([&] {
    while (double_->control()["uploads"] == 0) {
      base::sleep_until_stop({}, 0.01);
    }
    base::sleep_until_stop({}, 0.05);
    stop.request_stop();
  });
  const auto put = store(options, stop.get_token())->put_file("stopped", path("in"));
  stopper.join();
  EXPECT_EQ(put.error().code, Code::Interrupted);
  EXPECT_EQ(double_->control()["uploads"], 0);
}

TEST_F(ObjectStoreTest, AnUploadInPartsSurvivesFailuresAndLeavesNoParts) {
  ObjectStoreOptions options = double_->options();
  options.part_bytes = 1000;
  const auto objects = store(options);
  const std::string content(5'500, 'x');
  ASSERT_TRUE(base::replace_file(path("in"), content));
  double_->fail_next({{"method", "PUT"}, {"match", "partNumber=3"}, {"status", 503}});
  EXPECT_TRUE(objects->put_file("parts", path("in")));
  // The answer to the last request is lost: the upload is there, and its id is not known any more.
  double_->fail_next({{"method", "POST"}, {"match", "uploadId"}, {"lost", true}});
  const auto lost = objects->put_file("parts", path("in"));
  EXPECT_TRUE(lost) << lost.error().message;
  double_->fail_next({{"method", "PUT"}, {"match", "partNumber=2"}, {"status", 403}});
  EXPECT_EQ(objects->put_file("parts", path("in")).error().code, Code::PermissionDenied);
  EXPECT_EQ(double_->control()["uploads"], 0);
  ASSERT_TRUE(objects->get_file("parts", path("out")));
  EXPECT_EQ(*base::read_file(path("out")), content);
}

TEST_F(ObjectStoreTest, BytesThatAreNotThoseThatWerePutAreRefused) {
  const auto objects = store();
  ASSERT_TRUE(base::replace_file(path("in"), "right"));
  ASSERT_TRUE(objects->put_file("summed", path("in")));
  double_->control({{"put", {{"bucket/plain", "no sum is noted"}}}});
  EXPECT_TRUE(objects->get_file("plain", path("plain")));
  // The same object with other bytes, as a broken disk or a bad hand leaves it.
  double_->control({{"damage", "bucket/summed"}});
  EXPECT_EQ(objects->get_file("summed", path("out")).error().code, Code::DataLoss);
  EXPECT_FALSE(base::real_file_system().exists(path("out")));
}

TEST_F(ObjectStoreTest, WrongKeysAndRegionsAreSaidAndNotTriedAgain) {
  const auto requests = [] { return double_->control()["log"].size(); };
  ObjectStoreOptions options = double_->options();
  options.secret_key = "wrong";
  const size_t before = requests();
  const auto denied = store(options)->get("x", 10);
  EXPECT_EQ(denied.error().code, Code::PermissionDenied);
  EXPECT_NE(denied.error().message.find("SignatureDoesNotMatch"), std::string::npos);
  EXPECT_EQ(denied.error().message.find("wrong"), std::string::npos) << "the secret is not said";
  EXPECT_EQ(requests(), before + 1);
  double_->fail_next({{"match", "^bucket/x$"}, {"status", 404}, {"code", "XAdminUserNotFound"}});
  const auto nobody = store()->get("x", 10);
  EXPECT_EQ(nobody.error().code, Code::PermissionDenied);
  EXPECT_NE(nobody.error().message.find("404 XAdminUserNotFound"), std::string::npos);
  options = double_->options();
  options.region = "nowhere-1";
  const auto elsewhere = store(options)->get("x", 10);
  EXPECT_EQ(elsewhere.error().code, Code::InvalidConfig);
  EXPECT_NE(elsewhere.error().message.find("AWS_REGION"), std::string::npos);
}

TEST_F(ObjectStoreTest, ATimeAndAStopEndTheWaiting) {
  double_->fail_next({{"match", "slow"}, {"count", 100}, {"hang_s", 5}});
  const int64_t start_us = base::system_clock().steady_us();
  ObjectStoreOptions hurried = double_->options();
  hurried.request_ms = 100;
  hurried.part_bytes = 1000;
  hurried.attempts = 1;
  EXPECT_EQ(store(hurried)->get("slow", 10).error().code, Code::DeadlineExceeded);
  std::stop_source stop;
  const auto stoppable = store(double_->options(), stop.get_token());
  std::thread stopper([&] {
    base::sleep_until_stop({}, 0.1);
    stop.request_stop();
  });
  EXPECT_EQ(stoppable->get("slow", 10).error().code, Code::Interrupted);
  stopper.join();
  EXPECT_LT(base::system_clock().steady_us() - start_us, 4'000'000);
}

TEST_F(ObjectStoreTest, ASessionTokenIsSigned) {
  ObjectStoreOptions options = double_->options();
  options.session_token = "token/of+a=session";
  EXPECT_TRUE(store(options)->put("session", "x"));  // the double wants every x-amz- header signed
}

TEST_F(ObjectStoreTest, APodsIdentityIsExchangedForKeysOnce) {
  ASSERT_TRUE(base::replace_file(path("token"), "pod-token\n"));
  for (const char* const role : {"", "arn:aws:iam::1:role/sibyl"}) {
    ObjectStoreOptions options = double_->options();
    options.access_key.clear();
    options.secret_key.clear();
    options.role = role;
    options.identity_file = path("token");
    options.identity_url = double_->url() + (*role == '\0' ? "/__agent" : "/__sts");
    const size_t before = double_->control()["log"].size();
    const auto objects = store(options);
    ASSERT_TRUE(objects->put("identity", "x"));
    ASSERT_TRUE(objects->put("identity", "y"));
    EXPECT_EQ(double_->control()["log"].size(), before + 3);
    // Keys that the store calls expired before their time are asked for again.
    double_->fail_next({{"match", "identity"}, {"status", 400}, {"code", "ExpiredToken"}});
    EXPECT_TRUE(objects->put("identity", "z"));
    EXPECT_EQ(double_->control()["log"].size(), before + 6);
    ASSERT_TRUE(base::replace_file(path("other"), "somebody else"));
    options.identity_file = path("other");
    EXPECT_EQ(store(options)->get("identity", 10).error().code, Code::PermissionDenied);
  }
}

TEST_F(ObjectStoreTest, AStopEndsTheWaitForKeys) {
  CannedServer agent("", true);
  ASSERT_TRUE(base::replace_file(path("token"), "pod-token"));
  ObjectStoreOptions options = double_->options();
  options.access_key.clear();
  options.identity_file = path("token");
  options.identity_url = agent.url() + "/";
  std::stop_source stop;
  std::thread stopper([&] {
    base::sleep_until_stop({}, 0.05);
    stop.request_stop();
  });
  const int64_t start_us = base::system_clock().steady_us();
  EXPECT_EQ(store(options, stop.get_token())->get("x", 10).error().code, Code::Interrupted);
  stopper.join();
  EXPECT_LT(base::system_clock().steady_us() - start_us, 4'000'000);
}

}  // namespace
}  // namespace sibyl::net
