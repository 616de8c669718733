#include "server/internal/protocol_errors.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::server {
namespace {

TEST(ProtocolErrors, EveryProtocolHasItsOwnForm) {
  const Error error{Code::NotFound, "no such thing", "model"};
  const auto json = [&error](const char* path) {
    return base::parse_json(error_response(path, error).body).value();
  };
  EXPECT_EQ(json("/v2/models/a/infer"), base::Json({{"error", "no such thing"}}));
  EXPECT_EQ(json("/v2")["error"], "no such thing");
  EXPECT_EQ(json("/v1/embeddings")["error"]["message"], "no such thing");
  EXPECT_EQ(json("/v1/collections")["detail"], "no such thing");
  EXPECT_EQ(json("/v2x")["detail"], "no such thing");
  for (const char* const path :
       {"/predict", "/api/v1.0/predictions", "/api/v1.0/nothing", "/health/status", "/metadata"}) {
    EXPECT_EQ(json(path)["status"]["info"], "no such thing") << path;
    EXPECT_EQ(error_response(path, error).status, 404);
  }
  EXPECT_EQ(json("/health/ready")["detail"], "no such thing");
}

TEST(ProtocolErrors, WhoeverMayTryAgainIsToldWhen) {
  for (const char* const path : {"/predict", "/v2/models/a/infer", "/v1/embeddings", "/x"}) {
    EXPECT_TRUE(
        error_response(path, {Code::Unavailable, "later", {}}).headers.contains("Retry-After"))
        << path;
    EXPECT_FALSE(
        error_response(path, {Code::NotFound, "never", {}}).headers.contains("Retry-After"));
  }
}

}  // namespace
}  // namespace sibyl::server
