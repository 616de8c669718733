#include "job/owner_client.h"

#include <gtest/gtest.h>

#include "base/json.h"

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

}  // namespace
}  // namespace sibyl::job
