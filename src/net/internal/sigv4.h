#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sibyl::net::internal {

/// What a signature covers: AWS Signature Version 4, headers form.
struct SigningInput {
  std::string method;
  std::string path;                            ///< percent-encoded, from `/`
  std::map<std::string, std::string> query;    ///< not encoded
  std::map<std::string, std::string> headers;  ///< names in lower case; `host` among them
  std::string payload_sha256;                  ///< hexadecimal
  std::string region;
  std::string service = "s3";
  std::string access_key;
  std::string secret_key;
  int64_t now_us = 0;
};

/// "20130524T000000Z", the value of the header x-amz-date.
std::string signing_time(int64_t now_us);
/// "a=1&b=%20", in the order that signing wants.
std::string encode_query(const std::map<std::string, std::string>& query);
/// The value of the header Authorization.
std::string sign(const SigningInput& input);

}  // namespace sibyl::net::internal
