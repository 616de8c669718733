#include "net/internal/credentials.h"

#include <gtest/gtest.h>

namespace sibyl::net::internal {
namespace {

TEST(Credentials, OfARoleAreRead) {
  const auto read = parse_role_credentials(
      "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
      "<AssumeRoleWithWebIdentityResult><Credentials><SessionToken>t/+=</SessionToken>"
      "<SecretAccessKey>s</SecretAccessKey><Expiration>2013-05-24T00:00:00Z</Expiration>"
      "<AccessKeyId>a</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>"
      "</AssumeRoleWithWebIdentityResponse>");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->access_key, "a");
  EXPECT_EQ(read->secret_key, "s");
  EXPECT_EQ(read->session_token, "t/+=");
  EXPECT_EQ(read->expires_us, 1'369'353'600'000'000);
}

TEST(Credentials, OfAnAgentAreRead) {
  const auto read =
      parse_agent_credentials(R"({"AccessKeyId": "a", "SecretAccessKey": "s", "Token": "t",)"
                              R"( "Expiration": "2013-05-24T00:00:00.123Z"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->session_token, "t");
  EXPECT_EQ(read->expires_us, 1'369'353'600'000'000);
}

TEST(Credentials, HalfRepliesAreRefused) {
  for (const char* const reply :
       {"", "{}", "[]", "<Error><Code>AccessDenied</Code></Error>",
        R"({"AccessKeyId": "a", "SecretAccessKey": "s", "Token": "t", "Expiration": "soon"})",
        R"({"AccessKeyId": "a\r\nX: y", "SecretAccessKey": "s", "Token": "t",)"
        R"( "Expiration": "2013-05-24T00:00:00Z"})"}) {
    EXPECT_EQ(parse_agent_credentials(reply).error().code, Code::InvalidData) << reply;
    EXPECT_EQ(parse_role_credentials(reply).error().code, Code::InvalidData) << reply;
  }
}

TEST(Credentials, KeysThatAreGivenAskNobody) {
  ObjectStoreOptions options;
  options.access_key = "given";
  options.secret_key = "secret";
  CredentialSource source(options);
  EXPECT_EQ(source.get({}, 10'000)->access_key, "given");
}

TEST(Credentials, AnIdentityWithoutItsFileIsNamed) {
  ObjectStoreOptions options;
  options.role = "arn:role";
  options.identity_file = "/nowhere/token";
  options.identity_url = "http://127.0.0.1:1/";
  CredentialSource source(options);
  const auto asked = source.get({}, 10'000);
  EXPECT_EQ(asked.error().code, Code::NotFound);
  EXPECT_NE(asked.error().message.find("/nowhere/token"), std::string::npos);
}

}  // namespace
}  // namespace sibyl::net::internal
