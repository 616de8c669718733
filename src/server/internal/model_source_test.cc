#include "server/internal/model_source.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

TEST(ModelSource, PointersNameAVersion) {
  EXPECT_EQ(version_of_pointer(R"({"version": "3", "model": "helpdesk"})").value(), "3");
  EXPECT_EQ(version_of_pointer(R"({"version": 12})").value(), "12");
  EXPECT_EQ(version_of_pointer("7\n").value(), "7");
  EXPECT_EQ(version_of_pointer("2026-11.a_1").value(), "2026-11.a_1");
  for (const char* const text :
       {"", "{}", "..", ".hidden", "a/b", "{\"version\": \"../4\"}", "{\"version\": -1}",
        "{\"version\": 1.5}", "<html>", "[1]", "{\"version\": \"\"}"}) {
    EXPECT_FALSE(version_of_pointer(text)) << text;
  }
  EXPECT_FALSE(version_of_pointer(std::string(65, '1')));
}

TEST(ModelSource, AddressesAreTakenApart) {
  const auto address = parse_model_address("http://host:8080/v1/models/a%20b/current/");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->origin, "http://host:8080");
  EXPECT_EQ(address->path, "/v1/models/a b/current");
  const auto bucket = parse_model_address("s3://bucket/a%20b/3");
  ASSERT_TRUE(bucket);
  EXPECT_EQ(bucket->origin, "s3://bucket");
  EXPECT_EQ(bucket->path, "/a%20b/3");
  for (const char* const uri :
       {"ftp://host/a", "http://host", "http://host/", "https://user:secret@host/a", "://a/b",
        "http://host/a?b", "http://host/a#b", "http://host/a%2", "s3://bucket"}) {
    const auto refused = parse_model_address(uri);
    ASSERT_FALSE(refused) << uri;
    EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
  }
}

TEST(ModelSource, DirectoriesAreTakenAsTheyAre) {
  EXPECT_EQ(fetch_model("/mnt/models", {}, {})->path, "/mnt/models");
  EXPECT_EQ(fetch_model("file:///mnt/models", {}, {})->path, "/mnt/models");
  EXPECT_FALSE(fetch_model("", {}, {}));
  EXPECT_FALSE(fetch_model("gs://bucket/model", {}, {}));
}

}  // namespace
}  // namespace sibyl::server
