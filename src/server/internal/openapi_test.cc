#include "server/internal/openapi.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <gtest/gtest.h>

#include "base/json.h"
#include "server/internal/embedding_request.h"
#include "server/internal/replies.h"
#include "server/internal/reply_head.h"
#include "server/internal/routes.h"

namespace sibyl::server {
namespace {

void collect_references(const base::Json& json, std::set<std::string>& names) {
  if (json.is_object() && json.contains("$ref")) {
    const auto reference = json["$ref"].get<std::string>();
    EXPECT_EQ(reference.find("#/components/schemas/"), 0U);
    names.insert(reference.substr(reference.rfind('/') + 1));
  }
  for (const auto& item : json) {
    if (item.is_structured()) {
      collect_references(item, names);
    }
  }
}

TEST(OpenApi, DescribesEveryRouteAndNothingElse) {
  const auto document = base::parse_json(openapi_document());
  ASSERT_TRUE(document) << document.error().message;
  size_t operations = 0;
  for (const auto& [path, item] : (*document)["paths"].items()) {
    operations += item.size();
  }
  EXPECT_EQ(operations, routes().size());
  for (const Route& route : routes()) {
    std::string method(route.method);
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string path(route.pattern);
    if (const size_t dots = path.find("...}"); dots != std::string::npos) {
      path.erase(dots, 3);  // OpenAPI has no name for what takes several segments
    }
    const base::Json& operation = (*document)["paths"][path][method];
    EXPECT_TRUE(operation["responses"].contains(std::to_string(route.status))) << route.pattern;
    EXPECT_FALSE(operation["summary"].get<std::string>().empty());
  }
}

TEST(OpenApi, EverySchemaThatIsNamedIsThere) {
  const auto document = base::parse_json(openapi_document());
  std::set<std::string> names;
  collect_references(*document, names);
  EXPECT_GT(names.size(), 20U);
  for (const std::string& name : names) {
    EXPECT_TRUE((*document)["components"]["schemas"].contains(name)) << name;
  }
}

TEST(Replies, ErrorsHaveTheFormOfTheirProtocol) {
  const Error error{Code::NotFound, "there is no \"x\"", "model"};
  const Response ours = problem(error);
  EXPECT_EQ(ours.status, 404);
  EXPECT_EQ(ours.content_type, "application/problem+json");
  EXPECT_EQ(ours.body, R"({"type":"about:blank","title":"Not found","status":404,)"
                       R"("detail":"there is no \"x\"","field":"model","code":"not-found"})");
  EXPECT_EQ(openai_error(404, error).body,
            R"({"error":{"message":"there is no \"x\"","type":"invalid_request_error",)"
            R"("param":"model","code":"model_not_found"}})");
}

TEST(ReplyHead, LengthChunksAndConnectionAreSaid) {
  Response response = json_response(200, "{}");
  response.headers["X-Request-Id"] = "r";
  const std::string plain = reply_head(response, ReplyForm{11, false, true, false});
  EXPECT_EQ(plain.find("HTTP/1.1 200 OK\r\nDate: "), 0U);
  EXPECT_NE(plain.find("\r\nContent-Type: application/json\r\nX-Request-Id: r\r\n"
                       "Content-Length: 2\r\n\r\n"),
            std::string::npos);
  const std::string chunked = reply_head(response, ReplyForm{11, false, false, true});
  EXPECT_NE(chunked.find("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"),
            std::string::npos);
  EXPECT_EQ(chunked.find("Content-Length"), std::string::npos);
  const std::string empty = reply_head(empty_response(204), ReplyForm{10, false, true, false});
  EXPECT_EQ(empty.find("Content-"), std::string::npos);
  EXPECT_NE(empty.find("Connection: keep-alive"), std::string::npos);
}

TEST(EmbeddingRequest, FormsOfOpenAi) {
  const auto one = parse_embedding_request(R"({"model": "m", "input": ""})");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->input, std::vector<std::string>{""});
  EXPECT_FALSE(one->as_base64);
  const auto many = parse_embedding_request(
      R"({"model": "m", "input": ["a", "b"], "encoding_format": "base64", "dimensions": 4})");
  ASSERT_TRUE(many);
  EXPECT_EQ(many->input.size(), 2U);
  EXPECT_TRUE(many->as_base64);
  EXPECT_EQ(many->dimensions, 4U);
}

TEST(EmbeddingRequest, WrongInputIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"model": "m", "input": []})", "input"},
      {R"({"model": "m"})", "input"},
      {R"({"input": "a"})", "model"},
      {R"({"model": "m", "input": [1, 2]})", "input"},
      {R"({"model": "m", "input": [[1]]})", "input"},
      {R"({"model": "m", "input": ["a", null]})", "input[1]"},
      {R"({"model": "m", "input": {}})", "input"},
      {R"({"model": "m", "input": "a", "dimensions": 0})", "dimensions"},
      {R"({"model": "m", "input": "a", "encoding_format": "hex"})", "encoding_format"},
      {R"({"model": "m", "input": "a", "inptu": "b"})", "inptu"},
  };
  for (const auto& [body, field] : cases) {
    const auto request = parse_embedding_request(body);
    ASSERT_FALSE(request) << body;
    EXPECT_EQ(request.error().field, field) << body;
  }
  EXPECT_FALSE(parse_embedding_request("nonsense"));
}

}  // namespace
}  // namespace sibyl::server
