#include "net/internal/sigv4.h"

#include <gtest/gtest.h>

#include "net/sha256.h"

namespace sibyl::net::internal {
namespace {

// The examples of Amazon S3's page "Authenticating Requests: Using the Authorization Header".
SigningInput example() {
  SigningInput input;
  input.method = "GET";
  input.region = "us-east-1";
  input.access_key = "AKIAIOSFODNN7EXAMPLE";
  input.secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  input.now_us = 1'369'353'600'000'000;  // 2013-05-24
  input.payload_sha256 = sha256_hex("");
  input.path = "/";
  input.headers = {{"host", "examplebucket.s3.amazonaws.com"},
                   {"x-amz-content-sha256", input.payload_sha256},
                   {"x-amz-date", "20130524T000000Z"}};
  return input;
}

std::string signature_of(const SigningInput& input) {
  const std::string header = sign(input);
  return header.substr(header.rfind('=') + 1);
}

TEST(Signature, OfARangeOfAnObject) {
  SigningInput input = example();
  input.path = "/test.txt";
  input.headers["range"] = "bytes=0-9";
  EXPECT_EQ(sign(input),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(Signature, OfAnUpload) {
  SigningInput input = example();
  input.method = "PUT";
  input.path = "/test%24file.text";
  input.payload_sha256 = sha256_hex("Welcome to Amazon S3.");
  input.headers["x-amz-content-sha256"] = input.payload_sha256;
  input.headers["date"] = "Fri, 24 May 2013 00:00:00 GMT";
  input.headers["x-amz-storage-class"] = "REDUCED_REDUNDANCY";
  EXPECT_EQ(signature_of(input),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(Signature, OfAQuery) {
  SigningInput input = example();
  input.query = {{"lifecycle", ""}};
  EXPECT_EQ(signature_of(input),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  input.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_EQ(signature_of(input),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(Signature, TheTimeIsUtc) {
  EXPECT_EQ(signing_time(1'369'353'600'000'000), "20130524T000000Z");
  EXPECT_EQ(encode_query({{"b", "a b/+"}, {"a", ""}}), "a=&b=a%20b%2F%2B");
}

}  // namespace
}  // namespace sibyl::net::internal
