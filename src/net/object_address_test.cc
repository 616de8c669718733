#include <gtest/gtest.h>

#include "net/object_store.h"

namespace sibyl::net {
namespace {

TEST(ObjectAddress, BucketAndKey) {
  const auto address = parse_object_uri("s3://my-bucket/a/b c/");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->bucket, "my-bucket");
  EXPECT_EQ(address->key, "a/b c");
  EXPECT_EQ(parse_object_uri("s3://my.bucket")->key, "");
  EXPECT_EQ(join_key("a", "b"), "a/b");
  EXPECT_EQ(join_key("", "b"), "b");
}

TEST(ObjectAddress, WrongOnesAreNamed) {
  for (const char* const uri :
       {"", "s3:/bucket/x", "http://bucket/x", "s3://", "s3://b/x", "s3://Bucket/x", "s3://a b/x",
        "s3://bucket/a//b", "s3://bucket/a\nb", "s3://user:pw@host/x"}) {
    const auto address = parse_object_uri(uri);
    ASSERT_FALSE(address) << uri;
    EXPECT_EQ(address.error().code, Code::InvalidArgument) << uri;
  }
  EXPECT_FALSE(parse_object_uri("s3://bucket/" + std::string(1025, 'k')));
}

}  // namespace
}  // namespace sibyl::net
