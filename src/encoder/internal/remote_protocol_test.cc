#include "encoder/internal/remote_protocol.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/json.h"

namespace sibyl::encoder {
namespace {

const RemoteAddress kSeldon = *parse_remote_address("helpdesk=seldon+http://models:8000");
const RemoteAddress kInference = *parse_remote_address("helpdesk=v2+http://models:8080");

std::string raw(std::initializer_list<float> numbers) {
  std::string bytes;
  for (const float number : numbers) {
    base::put_f32(bytes, number);
  }
  return bytes;
}

TEST(RemoteAddress, GetsTheProtocolsAddressUnlessTheUrlHasOne) {
  const std::array<std::array<const char*, 3>, 9> cases = {{
      {"m=seldon+http://h:1", "http://h:1", "/api/v1.0/predictions"},
      {"m=seldon+http://h:1/", "http://h:1", "/api/v1.0/predictions"},
      {"m=seldon+https://h/seldon/ns/dep", "https://h", "/seldon/ns/dep/api/v1.0/predictions"},
      {"m=seldon+http://h/predict", "http://h", "/predict"},
      {"m=seldon+http://h/api/v0.1/predictions", "http://h", "/api/v0.1/predictions"},
      {"m=v2+http://h", "http://h", "/v2/models/m/infer"},
      {"m=v2+http://[::1]:8080/x/", "http://[::1]:8080", "/x/v2/models/m/infer"},
      {"m=v2+http://h/v2/models/other", "http://h", "/v2/models/other/infer"},
      {"m=v2+http://h/v2/models/other/infer", "http://h", "/v2/models/other/infer"},
  }};
  for (const auto& [text, url, path] : cases) {
    const auto address = parse_remote_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->url, url) << text;
    EXPECT_EQ(address->path, path) << text;
    EXPECT_EQ(address->name, "m");
  }
  EXPECT_EQ(parse_remote_address("m=v2+http://h/v2/models/other/versions/3")->served_name, "other");
}

TEST(RemoteAddress, RefusesWhatIsWrongWithoutRepeatingAPassword) {
  for (const char* text :
       {"", "m", "m=", "m=http://h", "=v2+http://h", "M=v2+http://h", "a/b=v2+http://h",
        "m=grpc+http://h", "m=v2+h:80", "m=v2+ftp://h", "m=v2+http://", "m=v2+http://:80",
        "m=v2+http://h/a b", "m=v2+http://h/?a=1", "m=v2+http://h#x", "m=v2+unix:/x"}) {
    const auto address = parse_remote_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, Code::InvalidArgument) << text;
    EXPECT_EQ(address.error().field, "encoder") << text;
  }
  const auto secret = parse_remote_address("m=v2+http://user:hunter2@h:80/x");
  ASSERT_FALSE(secret);
  EXPECT_EQ(secret.error().message.find("hunter2"), std::string::npos) << secret.error().message;
  EXPECT_NE(secret.error().message.find("SIBYL_ENCODER_API_KEY"), std::string::npos);
  EXPECT_EQ(parse_remote_address("m=openai+http://h").error().code, Code::Unimplemented);
}

TEST(SeldonProtocol, WritesRowsAndTheKind) {
  const std::array<std::string_view, 2> texts = {"one \"two\"", ""};
  const auto request = make_seldon_request(kSeldon, texts, TextKind::Question);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/api/v1.0/predictions");
  EXPECT_EQ(request.body, R"({"data":{"names":["text"],"ndarray":[["one \"two\""],[""]]},)"
                          R"("meta":{"tags":{"kind":"question"}}})");
}

TEST(SeldonProtocol, ReadsRowsInBothNestingsAndTensors) {
  const std::string meta = R"(,"meta":{"tags":{"model":"helpdesk","version":"3"}}})";
  for (const char* data : {R"({"data":{"ndarray":[[[1,-2.5]],[[0,4e-3]]]})",
                           R"({"data":{"names":["vector"],"ndarray":[[1,-2.5],[0,4e-3]]})",
                           R"({"data":{"tensor":{"shape":[2,2],"values":[1,-2.5,0,4e-3]}})"}) {
    const auto reply = parse_seldon_reply(data + meta, {2, 10});
    ASSERT_TRUE(reply) << data << reply.error().message;
    EXPECT_EQ(reply->dimension, 2U);
    EXPECT_EQ(reply->vectors, (std::vector<float>{1, -2.5F, 0, 4e-3F}));
    EXPECT_EQ(reply->model, "helpdesk");
    EXPECT_EQ(reply->version, "3");
  }
  const auto number = parse_seldon_reply(
      R"({"data":{"ndarray":[[[1]]]},"meta":{"tags":{"model":"m","version":12}}})", {1, 10});
  ASSERT_TRUE(number);
  EXPECT_EQ(number->version, "12");
}

TEST(SeldonProtocol, RefusesRepliesThatAreNotVectors) {
  const std::string meta = R"(,"meta":{"tags":{"model":"helpdesk","version":"3"}}})";
  for (const std::string& body : std::vector<std::string>{
           "",
           "{",
           "[]",
           "null",
           "\xFF\xFE",
           std::string(1000, '['),
           R"({"meta":{"tags":{"model":"helpdesk","version":"3"}}})",
           R"({"data":{"ndarray":[[1,2],[3,4]]}})",
           R"({"data":{"ndarray":[[1,2],[3,4]]},"meta":{"tags":{"version":""}}})",
           R"({"data":{"ndarray":[[1,2],[3,4]]},"meta":{"tags":{"version":"a@b"}}})",
           R"({"data":{"ndarray":[[1,2],[3,4]]},"meta":{"tags":{"version":1.5}}})",
           R"({"data":{"ndarray":[[1,2],[3,4]]},"meta":{"tags":{"version":[1]}}})",
           R"({"data":{"ndarray":[[1,2]]})" + meta,
           R"({"data":{"ndarray":[[1,2],[3,4],[5,6]]})" + meta,
           R"({"data":{"ndarray":[[1,2],[3]]})" + meta,
           R"({"data":{"ndarray":[[],[]]})" + meta,
           R"({"data":{"ndarray":[[1,2],[3,null]]})" + meta,
           R"({"data":{"ndarray":[[1,2],[3,"4"]]})" + meta,
           R"({"data":{"ndarray":[[1,2],[3,1e39]]})" + meta,
           R"({"data":{"ndarray":[[1,2],[3,-1e300]]})" + meta,
           R"({"data":{"ndarray":[[[1,2],[3,4]]]})" + meta,
           R"({"data":{"ndarray":[1,2]})" + meta,
           R"({"data":{"ndarray":{"a":1}})" + meta,
           R"({"data":{"tensor":{"shape":[2,2],"values":[1,2,3]}})" + meta,
           R"({"data":{"tensor":{"shape":[2],"values":[1,2]}})" + meta,
           R"({"data":{"tensor":{"shape":[2,-2],"values":[1,2,3,4]}})" + meta,
           R"({"data":{"tensor":{"shape":[2,18446744073709551615],"values":[]}})" + meta,
           R"({"strData":"[[1,2],[3,4]]")" + meta}) {
    const auto reply = parse_seldon_reply(body, {2, 10});
    ASSERT_FALSE(reply) << body;
    EXPECT_EQ(reply.error().code, Code::Unavailable) << body;
  }
}

TEST(InferenceProtocol, WritesJsonAndAsksForRawBytes) {
  const std::array<std::string_view, 2> texts = {"one", "two"};
  const auto request = make_inference_request(kInference, texts, TextKind::Document, true);
  EXPECT_EQ(request.path, "/v2/models/helpdesk/infer");
  EXPECT_EQ(request.body,
            R"({"parameters":{"kind":"document"},"inputs":[{"name":"text","datatype":"BYTES",)"
            R"("shape":[2],"data":["one","two"]}],)"
            R"("outputs":[{"name":"vector","parameters":{"binary_data":true}}]})");
  EXPECT_EQ(
      make_inference_request(kInference, texts, TextKind::Document, false).body.find("binary_data"),
      std::string::npos);
}

TEST(InferenceProtocol, ReadsFlatNestedAndRawVectors) {
  const std::string head =
      R"({"model_name":"helpdesk","model_version":"3","outputs":[{"name":"vector",)";
  const std::string json = head + R"("datatype":"FP32","shape":[2,2],)";
  const std::vector<float> expected = {1, -2.5F, 0, 0.5F};
  for (const char* data : {R"("data":[1,-2.5,0,0.5]}]})", R"("data":[[1,-2.5],[0,0.5]]}]})"}) {
    const auto reply = parse_inference_reply(json + data, "", {2, 10});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->vectors, expected);
    EXPECT_EQ(reply->version, "3");
  }
  const std::string header = json + R"("parameters":{"binary_data_size":16}}]})";
  const auto binary = parse_inference_reply(header + raw({1, -2.5F, 0, 0.5F}),
                                            std::to_string(header.size()), {2, 10});
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_EQ(binary->vectors, expected);
  std::string wide;
  for (const double value : {1.0, -2.5, 0.0, 0.5}) {
    base::put_u64(wide, std::bit_cast<uint64_t>(value));
  }
  const std::string wide_header =
      head + R"("datatype":"FP64","shape":[2,2],"parameters":{"binary_data_size":32}}]})";
  const auto doubles =
      parse_inference_reply(wide_header + wide, std::to_string(wide_header.size()), {2, 10});
  ASSERT_TRUE(doubles) << doubles.error().message;
  EXPECT_EQ(doubles->vectors, expected);
}

TEST(InferenceProtocol, FindsItsOutputBehindOthers) {
  const std::string header =
      R"({"model_name":"m","model_version":"1","outputs":[{"name":"tokens","datatype":"INT32",)"
      R"("shape":[1],"parameters":{"binary_data_size":4}},{"name":"vector","datatype":"FP32",)"
      R"("shape":[1,2],"parameters":{"binary_data_size":8}}]})";
  const auto reply =
      parse_inference_reply(header + raw({9, 1, 2}), std::to_string(header.size()), {1, 10});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->vectors, (std::vector<float>{1, 2}));
}

TEST(InferenceProtocol, RefusesRepliesThatAreNotVectors) {
  const std::string head =
      R"({"model_name":"helpdesk","model_version":"3","outputs":[{"name":"vector",)";
  for (const std::string& body : std::vector<std::string>{
           "", "{}", "[1]", R"({"model_name":"helpdesk","outputs":[]})", R"({"model_version":"3"})",
           R"({"model_version":"3","outputs":{}})", R"({"model_version":"3","outputs":[1]})",
           R"({"model_version":"3","outputs":[{"name":"a"},{"name":"b"}]})", head + "}]}",
           head + R"("datatype":"INT8","shape":[2,2],"data":[1,2,3,4]}]})",
           head + R"("datatype":"FP32","shape":[4],"data":[1,2,3,4]}]})",
           head + R"("datatype":"FP32","shape":[2,2]}]})",
           head + R"("datatype":"FP32","shape":[2,0],"data":[]}]})",
           head + R"("datatype":"FP32","shape":[2,11],"data":[]}]})",
           head + R"("datatype":"FP32","shape":[2,2],"data":[1,2,3]}]})",
           head + R"("datatype":"FP32","shape":[2,2],"data":[1,2,3,4,5]}]})",
           head + R"("datatype":"FP32","shape":[2,2],"data":[[1,2,3],[4]]}]})",
           head + R"("datatype":"FP32","shape":[2,2],"data":[1,2,3,null]}]})",
           head + R"("datatype":"FP32","shape":[2,2],"parameters":{"binary_data_size":16}}]})"}) {
    const auto reply = parse_inference_reply(body, "", {2, 10});
    ASSERT_FALSE(reply) << body;
    EXPECT_EQ(reply.error().code, Code::Unavailable) << body;
  }
}

TEST(InferenceProtocol, RefusesRawContentsThatLie) {
  const auto parse = [](const std::string& size, const std::string& bytes,
                        const std::string& length) {
    const std::string header =
        R"({"model_name":"m","model_version":"1","outputs":[{"name":"vector","datatype":"FP32",)"
        R"("shape":[1,2],"parameters":{"binary_data_size":)" +
        size + "}}]}";
    return parse_inference_reply(header + bytes,
                                 length.empty() ? std::to_string(header.size()) : length, {1, 10});
  };
  EXPECT_TRUE(parse("8", raw({1, 2}), ""));
  EXPECT_FALSE(parse("8", raw({1}), ""));
  EXPECT_FALSE(parse("12", raw({1, 2, 3}), ""));
  EXPECT_FALSE(parse("-8", raw({1, 2}), ""));
  EXPECT_FALSE(parse("\"8\"", raw({1, 2}), ""));
  EXPECT_FALSE(parse("18446744073709551615", raw({1, 2}), ""));
  EXPECT_FALSE(parse("8", raw({1, 2}), "99999999"));
  EXPECT_FALSE(parse("8", raw({1, 2}), "-1"));
  EXPECT_FALSE(parse("8", raw({1, 2}), "12x"));
  EXPECT_FALSE(parse("8", raw({1, 2}), "10"));
  EXPECT_FALSE(parse("8", raw({1, std::numeric_limits<float>::quiet_NaN()}), ""));
  EXPECT_FALSE(parse("8", raw({1, std::numeric_limits<float>::infinity()}), ""));
}

TEST(ErrorWords, AreFoundInEveryProtocolsErrorsAndCut) {
  EXPECT_EQ(error_words(R"({"error":"no model"})"), "no model");
  EXPECT_EQ(error_words(R"({"status":{"status":1,"info":"bad text","code":-1}})"), "bad text");
  EXPECT_EQ(error_words(R"({"error":{"message":"too long"}})"), "too long");
  EXPECT_EQ(error_words(R"({"title":"Not found","status":404})"), "Not found");
  EXPECT_EQ(error_words("<html>"), "");
  EXPECT_EQ(error_words(R"({"error":"a\nb\u0007c"})"), "a b c");
  EXPECT_EQ(error_words(R"({"error":")" + std::string(500, 'x') + R"("})"), std::string(200, 'x'));
}

}  // namespace
}  // namespace sibyl::encoder
