#include "server/internal/open_inference.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/json.h"

namespace sibyl::server {
namespace {

using Texts = std::vector<std::string>;

std::string input(const std::string& rest) {
  return R"({"inputs": [{"name": "text", "datatype": "BYTES", )" + rest + "}]}";
}

std::string raw_texts(const Texts& texts) {
  std::string out;
  for (const std::string& text : texts) {
    base::put_u32(out, static_cast<uint32_t>(text.size()));
    out += text;
  }
  return out;
}

/// A body of the binary extension, and the length of its header.
std::pair<std::string, std::string> binary_body(const std::string& tensors, size_t count,
                                                const std::string& more = {}) {
  const std::string header = R"({"inputs": [{"name": "text", "shape": [)" + std::to_string(count) +
                             R"(], "datatype": "BYTES", "parameters": {"binary_data_size": )" +
                             std::to_string(tensors.size()) + "}}]" + more + "}";
  return {header + tensors, std::to_string(header.size())};
}

TEST(OpenInference, TextsComeFlatOrInRows) {
  const auto flat = parse_infer_request(input(R"("shape": [2], "data": ["a", ""])"), {});
  ASSERT_TRUE(flat) << flat.error().message;
  EXPECT_EQ(flat->texts, (Texts{"a", ""}));
  EXPECT_FALSE(flat->binary_output);
  const auto rows = parse_infer_request(input(R"("shape": [2, 1], "data": [["a"], ["b"]])"), {});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->texts, (Texts{"a", "b"}));
}

TEST(OpenInference, UnknownKeysAreLeftAlone) {
  const auto request = parse_infer_request(
      R"({"id": "7", "model_name": "m", "parameters": {"priority": 3}, "inputs": [{"name": "text",
          "datatype": "BYTES", "shape": [1], "data": ["a"], "parameters": {"content_type": "str"}}],
          "outputs": [{"name": "vector"}]})",
      {});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->id, "7");
}

TEST(OpenInference, BinaryTensorsFollowTheHeader) {
  const auto [body, length] = binary_body(raw_texts({"one", "", "naïve"}), 3);
  const auto request = parse_infer_request(body, length);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->texts, (Texts{"one", "", "naïve"}));
  const auto [wanted, wanted_length] =
      binary_body(raw_texts({"a"}), 1, R"(, "parameters": {"binary_data_output": true})");
  EXPECT_TRUE(parse_infer_request(wanted, wanted_length)->binary_output);
  const auto [own, own_length] =
      binary_body(raw_texts({"a"}), 1,
                  R"(, "outputs": [{"name": "vector", "parameters": {"binary_data": false}}],
          "parameters": {"binary_data_output": true})");
  EXPECT_FALSE(parse_infer_request(own, own_length)->binary_output);
}

TEST(OpenInference, BinaryTensorsThatDoNotFitAreRefused) {
  const std::string right = raw_texts({"one", "two"});
  for (const auto& [tensors, count] :
       std::vector<std::pair<std::string, size_t>>{{right, 1},
                                                   {right, 3},
                                                   {right.substr(0, right.size() - 1), 2},
                                                   {right + "x", 2},
                                                   {"", 1},
                                                   {std::string("\xff\xff\xff\xffx", 5), 1},
                                                   {std::string("\x01\x00\x00", 3), 1},
                                                   {raw_texts({"\xff"}), 1}}) {
    const auto [body, length] = binary_body(tensors, count);
    EXPECT_FALSE(parse_infer_request(body, length)) << tensors.size() << " bytes as " << count;
  }
  const auto [body, length] = binary_body(right, 2);
  EXPECT_FALSE(parse_infer_request(body, "0"));
  EXPECT_FALSE(parse_infer_request(body, std::to_string(body.size() + 1)));
  EXPECT_FALSE(parse_infer_request(body, std::to_string(std::stoul(length) - 1)));
  EXPECT_FALSE(parse_infer_request(body, "-1"));
  EXPECT_FALSE(parse_infer_request(body, "99999999999999999999999"));
  EXPECT_FALSE(parse_infer_request(body, ""));
  EXPECT_FALSE(parse_infer_request(body, {}));
  const std::string plain = input(R"("shape": [1], "data": ["a"])");
  EXPECT_FALSE(parse_infer_request(plain + "tail", std::to_string(plain.size())));
}

TEST(OpenInference, WhatIsWrongIsNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"inputs": []})", "inputs"},
      {R"({"inputs": [{}, {}]})", "inputs"},
      {R"({"inputs": ["text"]})", "inputs[0]"},
      {R"({})", "inputs"},
      {R"([])", "inputs"},
      {input(R"("shape": [3], "data": ["a"])"), "inputs[0].data"},
      {input(R"("shape": [1], "data": [1])"), "inputs[0].data[0]"},
      {input(R"("shape": [1], "data": [["a", "b"]])"), "inputs[0].data[0]"},
      {input(R"("shape": [1])"), "inputs[0].data"},
      {input(R"("shape": [0], "data": [])"), "inputs[0].shape"},
      {input(R"("shape": [-1], "data": ["a"])"), "inputs[0].shape"},
      {input(R"("shape": [1, 2], "data": ["a", "b"])"), "inputs[0].shape"},
      {input(R"("shape": [], "data": ["a"])"), "inputs[0].shape"},
      {input(R"("shape": [1.5], "data": ["a"])"), "inputs[0].shape"},
      {input(R"("shape": "1", "data": ["a"])"), "inputs[0].shape"},
      {input(R"("shape": [2049], "data": ["a"])"), "inputs[0]"},
      {input(R"("shape": [9223372036854775807], "data": ["a"])"), "inputs[0]"},
      {R"({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1], "data": ["a"]}]})",
       "inputs[0].name"},
      {R"({"inputs": [{"name": "text", "datatype": "FP32", "shape": [1], "data": [1]}]})",
       "inputs[0].datatype"},
      {R"({"outputs": [{"name": "x"}], "inputs": [{"name": "text", "datatype": "BYTES",
           "shape": [1], "data": ["a"]}]})",
       "outputs"},
      {input(R"("shape": [1], "parameters": {"binary_data_size": 4})"),
       "inputs[0].parameters.binary_data_size"},
  };
  for (const auto& [body, field] : cases) {
    const auto request = parse_infer_request(body, {});
    ASSERT_FALSE(request) << body;
    EXPECT_EQ(request.error().code, Code::InvalidArgument);
    EXPECT_EQ(request.error().field, field) << request.error().message;
  }
}

TEST(OpenInference, ParametersSayWhetherTextsAreQuestions) {
  const auto kind_of = [](const std::string& parameters) {
    return parse_infer_request(
               R"({"parameters": )" + parameters +
                   R"(, "inputs": [{"name": "text", "datatype": "BYTES", "shape": [1],)"
                   R"( "data": ["a"]}]})",
               {})
        ->kind;
  };
  EXPECT_EQ(kind_of(R"({"kind": "question"})"), encoder::TextKind::Question);
  for (const char* const parameters : {R"({"kind": "document"})", R"({"kind": 5})", "[]", "{}"}) {
    EXPECT_EQ(kind_of(parameters), encoder::TextKind::Document) << parameters;
  }
}

TEST(OpenInference, RepliesAreJsonOrBinary) {
  const Prediction made{{0.5F, -1.0F, 0.25F, 2.0F}, 2, 7, "helpdesk", "3"};
  InferRequest request{"7", {"a", "b"}, false};
  EXPECT_EQ(infer_reply(request, made, "h").body,
            R"({"model_name":"h","model_version":"3","id":"7","outputs":[{"name":"vector",)"
            R"("shape":[2,2],"datatype":"FP32","data":[0.5,-1,0.25,2]}]})");
  request.binary_output = true;
  const Response reply = infer_reply(request, made, "h");
  const size_t length = std::stoul(reply.headers.at(kInferenceHeaderLength));
  EXPECT_EQ(reply.content_type, "application/octet-stream");
  EXPECT_EQ(base::parse_json(reply.body.substr(0, length)).value()["outputs"][0]["parameters"],
            base::Json({{"binary_data_size", 16}}));
  base::ByteReader bytes(std::string_view(reply.body).substr(length));
  for (const float value : made.vectors) {
    EXPECT_EQ(bytes.f32(), value);
  }
  EXPECT_TRUE(bytes.ok());
  EXPECT_EQ(bytes.left(), 0U);
}

}  // namespace
}  // namespace sibyl::server
