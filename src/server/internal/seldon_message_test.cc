#include "server/internal/seldon_message.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace sibyl::server {
namespace {

using Texts = std::vector<std::string>;

Prediction two_vectors() {
  return {{0.5F, -1.0F, 0.25F, 2.0F}, 2, 7, "helpdesk", "3"};
}

TEST(SeldonMessage, RowsAreListsOfOneTextOrTexts) {
  const auto request = parse_seldon_request(
      R"({"data": {"names": ["text"], "ndarray": [["one"], "two", [""]]}, "meta": {"puid": "p"}})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->texts, (Texts{"one", "two", ""}));
  EXPECT_EQ(request->form, SeldonForm::Rows);
  EXPECT_EQ(request->puid, "p");
}

TEST(SeldonMessage, OneTextAndJsonAreReadToo) {
  const auto text = parse_seldon_request(R"({"strData": "caf\u00e9", "meta": {}, "status": null})");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->texts, Texts{"café"});
  EXPECT_EQ(text->form, SeldonForm::Text);
  const auto json = parse_seldon_request(R"({"jsonData": {"texts": ["a", "b"]}})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->texts, (Texts{"a", "b"}));
  EXPECT_EQ(json->form, SeldonForm::Json);
}

TEST(SeldonMessage, TagsSayWhetherTextsAreQuestions) {
  const auto kind_of = [](const std::string& meta) {
    return parse_seldon_request(R"({"strData": "a", "meta": )" + meta + "}")->kind;
  };
  EXPECT_EQ(kind_of(R"({"tags": {"kind": "question"}})"), encoder::TextKind::Question);
  for (const char* const meta : {R"({"tags": {"kind": "document"}})", R"({"tags": {"kind": 5}})",
                                 R"({"tags": {"kind": "other"}})", R"({"tags": 1})", "{}"}) {
    EXPECT_EQ(kind_of(meta), encoder::TextKind::Document) << meta;
  }
}

TEST(SeldonMessage, WhatHoldsNoTextIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"data": {"tensor": {"shape": [1], "values": [1]}}})", "data.tensor"},
      {R"({"data": {"tftensor": {}}})", "data.tftensor"},
      {R"({"binData": "AAAA"})", "binData"},
      {R"({"customData": {}})", "customData"},
      {R"({"data": {"ndarray": [[1.5]]}})", "data.ndarray[0]"},
      {R"({"data": {"ndarray": ["a", ["b", "c"]]}})", "data.ndarray[1]"},
      {R"({"data": {"ndarray": [[]]}})", "data.ndarray[0]"},
      {R"({"data": {"ndarray": []}})", "data.ndarray"},
      {R"({"data": {"ndarray": "text"}})", "data.ndarray"},
      {R"({"data": {"ndarray": ["a"], "tensor": {}}})", "data"},
      {R"({"data": "text"})", "data"},
      {R"({"strData": 5})", "strData"},
      {R"({"jsonData": ["a"]})", "jsonData.texts"},
      {R"({"jsonData": {"texts": "a"}})", "jsonData.texts"},
      {R"({"jsonData": {"texts": ["a", null]}})", "jsonData.texts[1]"},
  };
  for (const auto& [json, field] : cases) {
    const auto request = parse_seldon_request(json);
    ASSERT_FALSE(request) << json;
    EXPECT_EQ(request.error().code, Code::InvalidArgument) << json;
    EXPECT_EQ(request.error().field, field) << request.error().message;
  }
  for (const char* const json : {"", "{", "[]", "null", "{}", R"({"meta": {}})",
                                 R"({"strData": "a", "data": {"ndarray": ["b"]}})"}) {
    EXPECT_FALSE(parse_seldon_request(json)) << json;
  }
}

TEST(SeldonMessage, TheNumberOfTextsIsBounded) {
  std::string json = R"({"data": {"ndarray": [)";
  for (size_t i = 0; i <= kTextsMax; ++i) {
    json += i == 0 ? "\"\"" : ",\"\"";
  }
  EXPECT_FALSE(parse_seldon_request(json + "]}}"));
  const size_t last = json.rfind(',');
  EXPECT_EQ(parse_seldon_request(json.substr(0, last) + "]}}")->texts.size(), kTextsMax);
}

TEST(SeldonMessage, RepliesComeInTheFormOfTheRequest) {
  SeldonRequest request{{"a", "b"}, SeldonForm::Rows, "p\"1"};
  EXPECT_EQ(seldon_reply(request, two_vectors()),
            R"({"data":{"names":["vector"],"ndarray":[[[0.5,-1]],[[0.25,2]]]},)"
            R"("meta":{"puid":"p\"1","tags":{"model":"helpdesk","version":"3"}}})");
  request.form = SeldonForm::Json;
  request.puid.clear();
  EXPECT_EQ(seldon_reply(request, two_vectors()),
            R"({"jsonData":{"vectors":[[0.5,-1],[0.25,2]]},)"
            R"("meta":{"tags":{"model":"helpdesk","version":"3"}}})");
}

TEST(SeldonMessage, ErrorsAreThoseOfSeldonsWrapper) {
  EXPECT_EQ(seldon_error(400, {Code::InvalidArgument, "no", {}}).body,
            R"({"status":{"status":1,"info":"no","code":-1,"reason":"MICROSERVICE_BAD_DATA"}})");
  EXPECT_NE(seldon_error(500, {Code::Internal, "no", {}}).body.find("MICROSERVICE_INTERNAL_ERROR"),
            std::string::npos);
}

TEST(SeldonMessage, TheMessageLiesInBodyFormOrAddress) {
  Request request;
  request.body = "{}";
  EXPECT_EQ(seldon_json_of(request).value(), "{}");
  request.query["json"] = R"({"strData":"q"})";
  EXPECT_EQ(seldon_json_of(request).value(), "{}");
  request.body.clear();
  EXPECT_EQ(seldon_json_of(request).value(), R"({"strData":"q"})");
  request.headers["content-type"] = "application/x-www-form-urlencoded";
  request.body = "a=b&json=%7B%22strData%22%3A+%22x%2By%22%7D";
  EXPECT_EQ(seldon_json_of(request).value(), R"({"strData": "x+y"})");
  request.headers["content-type"] = "multipart/form-data; boundary=X";
  request.body =
      "--X\r\nContent-Disposition: form-data; name=\"strData\"\r\n\r\na \"text\"\r\n--X--\r\n";
  EXPECT_EQ(parse_seldon_request(seldon_json_of(request).value())->texts, Texts{"a \"text\""});
  request.body = "--X\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\nno json\r\n--X--";
  EXPECT_FALSE(seldon_json_of(request));
}

}  // namespace
}  // namespace sibyl::server
