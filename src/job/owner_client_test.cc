#include "job/owner_client.h"

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/json.h"
#include "net/canned_server.h"

namespace sibyl::job {
namespace {

TEST(ReadReply, AProblemBecomesItsError) {
  const auto reply = read_reply(
      404,
      R"({"title":"not found","status":404,"detail":"no model 'x'","field":"model","code":"not-found"})");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::NotFound);
  EXPECT_EQ(reply.error().message, "no model 'x'");
  EXPECT_EQ(reply.error().field, "model");
}

// /v1/models and /v1/embeddings speak OpenAI's form, whose codes are not ours.
TEST(ReadReply, OpenAisFormIsReadByItsStatus) {
  const auto reply = read_reply(
      404, R"({"error":{"message":"no such model","param":"model","code":"model_not_found"}})");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::NotFound);
  EXPECT_EQ(reply.error().message, "no such model");
}

TEST(ReadReply, BodiesThatAreNoJsonAreTold) {
  EXPECT_EQ(read_reply(502, "<html>").error().code, Code::Unavailable);
  EXPECT_EQ(read_reply(200, "<html>").error().code, Code::Unavailable);
  EXPECT_TRUE(read_reply(204, "")->is_null());
  EXPECT_EQ((*read_reply(200, R"({"a":1})"))["a"], 1);
}

TEST(OwnerClient, AnEmptyAddressNamesTheOption) {
  const auto client = OwnerClient::open("", "");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::Unavailable);
  EXPECT_NE(client.error().message.find("--server"), std::string::npos);
}

TEST(OwnerClient, ADownloadIsBounded) {
  base::TemporaryDirectory folder;
  const std::string target = base::join_path(folder.path(), "weights");
  const std::string body(100'000, 'x');
  net::CannedServer owner("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body);
  const auto client = OwnerClient::open(owner.url(), "");
  ASSERT_TRUE(client);
  EXPECT_EQ((*client)->download("/w", target, 99'999, {}).error().code, Code::TooLarge);
  ASSERT_TRUE((*client)->download("/w", target, 100'000, {}));
  EXPECT_EQ(base::read_file(target)->size(), body.size());
}

TEST(OwnerClient, ARefusalWithoutEndIsNotCollected) {
  base::TemporaryDirectory folder;
  net::CannedServer owner("HTTP/1.1 500 Oh\r\nContent-Length: 2000000\r\n\r\n" +
                          std::string(2'000'000, 'x'));
  const auto client = OwnerClient::open(owner.url(), "");
  ASSERT_TRUE(client);
  const auto got =
      (*client)->download("/w", base::join_path(folder.path(), "weights"), 1'000'000'000, {});
  EXPECT_EQ(got.error().code, Code::TooLarge);
}

}  // namespace
}  // namespace sibyl::job
