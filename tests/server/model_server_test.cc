// The model server over HTTP: every protocol gives the same vectors and its own errors.
#include <filesystem>

#include "base/bytes.h"
#include "model_server_fixture.h"
#include "net/sha256.h"

namespace sibyl::server {
namespace {

using Vectors = std::vector<std::vector<float>>;

Vectors rows_of(const base::Json& data) {
  Vectors vectors;
  for (const auto& row : data) {
    vectors.push_back(row[0].get<std::vector<float>>());
  }
  return vectors;
}

Vectors cut(const std::vector<float>& flat, size_t count) {
  Vectors vectors;
  const size_t dimension = flat.size() / count;
  for (size_t i = 0; i < count; ++i) {
    vectors.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i * dimension),
                         flat.begin() + static_cast<std::ptrdiff_t>((i + 1) * dimension));
  }
  return vectors;
}

std::string infer_body(const std::vector<std::string>& texts) {
  return base::dump_json(
      {{"inputs",
        {{{"name", "text"}, {"datatype", "BYTES"}, {"shape", {texts.size()}}, {"data", texts}}}}});
}

TEST_F(ModelServerTest, SeldonGivesTheVectorsInEveryForm) {
  start();
  const Vectors expected = embeddings(kTexts);
  base::Json rows = base::Json::array();
  for (const std::string& text : kTexts) {
    rows.push_back(base::Json::array({text}));
  }
  const std::string message = base::dump_json(
      {{"data", {{"names", {"text"}}, {"ndarray", rows}}}, {"meta", {{"puid", "7"}}}});
  const auto reply = json(post("/predict", message));
  EXPECT_EQ(rows_of(reply["data"]["ndarray"]), expected);
  EXPECT_EQ(reply["data"]["names"], base::Json({"vector"}));
  EXPECT_EQ(reply["meta"],
            base::Json({{"puid", "7"}, {"tags", {{"model", "m"}, {"version", "1"}}}}));
  EXPECT_EQ(json(post("/predict", "json=" + net::encode_uri_part(message),
                      "application/x-www-form-urlencoded")),
            reply);
  EXPECT_EQ(json(get("/predict?json=" + net::encode_uri_part(message))), reply);
  EXPECT_EQ(json(post("/api/v0.1/predictions", message)), reply);
  const auto text = json(post("/api/v1.0/predictions", base::dump_json({{"strData", kTexts[2]}})));
  EXPECT_EQ(rows_of(text["data"]["ndarray"]), Vectors{expected[2]});
  const auto texts = json(post("/predict", base::dump_json({{"jsonData", {{"texts", kTexts}}}})));
  EXPECT_EQ(texts["jsonData"]["vectors"].get<Vectors>(), expected);
}

TEST_F(ModelServerTest, SeldonsOtherAddressesAnswer) {
  start();
  EXPECT_EQ(get("/health/ping").body, "pong");
  EXPECT_EQ(get("/health/status").status, 200);
  EXPECT_EQ(get("/api/v1.0/health/status").status, 200);
  const auto metadata = json(get("/metadata"));
  EXPECT_EQ(metadata["name"], "m");
  EXPECT_EQ(metadata["versions"], base::Json({"1"}));
  EXPECT_EQ(metadata["inputs"][0]["messagetype"], "ndarray");
  EXPECT_EQ(json(get("/api/v1.0/metadata")), metadata);
  EXPECT_EQ(json(get("/seldon.json"))["openapi"], "3.1.0");
  EXPECT_EQ(json(post("/send-feedback", R"({"reward": 0.5})"))["meta"], base::Json::object());
  EXPECT_EQ(post("/api/v1.0/feedback", "7").status, 400);
  EXPECT_NE(get("/metrics").body.find("sibyl_seldon_feedback_total"), std::string::npos);
  EXPECT_EQ(post("/transform-input", "{}").status, 501);
}

TEST_F(ModelServerTest, OpenInferenceGivesTheVectorsAsJsonAndAsBytes) {
  start();
  const Vectors expected = embeddings(kTexts);
  for (const std::string path :
       {"/v2/models/m/infer", "/v2/models/node/infer", "/v2/models/m/versions/1/infer"}) {
    const auto reply = json(post(path, infer_body(kTexts)));
    EXPECT_EQ(reply["outputs"][0]["shape"], base::Json({3, expected[0].size()})) << path;
    EXPECT_EQ(cut(reply["outputs"][0]["data"].get<std::vector<float>>(), 3), expected) << path;
    EXPECT_EQ(reply["model_name"], path.find("node") == std::string::npos ? "m" : "node");
  }
  std::string tensors;
  for (const std::string& text : kTexts) {
    base::put_u32(tensors, static_cast<uint32_t>(text.size()));
    tensors += text;
  }
  const std::string header =
      base::dump_json({{"parameters", {{"binary_data_output", true}}},
                       {"inputs",
                        {{{"name", "text"},
                          {"datatype", "BYTES"},
                          {"shape", {3, 1}},
                          {"parameters", {{"binary_data_size", tensors.size()}}}}}}});
  net::HttpRequest request;
  request.method = "POST";
  request.path = "/v2/models/m/infer";
  request.body = header + tensors;
  request.content_type = "application/octet-stream";
  request.headers["Inference-Header-Content-Length"] = std::to_string(header.size());
  const auto reply = send(request);
  ASSERT_EQ(reply.status, 200) << reply.body;
  const size_t length = std::stoul(reply.headers.at("inference-header-content-length"));
  base::ByteReader reader(std::string_view(reply.body).substr(length));
  std::vector<float> flat;
  while (reader.left() > 0 && reader.ok()) {
    flat.push_back(reader.f32());
  }
  EXPECT_EQ(cut(flat, 3), expected);
}

TEST_F(ModelServerTest, OpenInferenceDescribesItself) {
  start();
  EXPECT_EQ(json(get("/v2"))["name"], "sibyl");
  EXPECT_EQ(json(get("/v2/health/live"))["live"], true);
  EXPECT_EQ(json(get("/v2/health/ready"))["ready"], true);
  EXPECT_EQ(json(get("/v2/models/m/ready")), base::Json({{"name", "m"}, {"ready", true}}));
  EXPECT_EQ(get("/v2/models/m/versions/1/ready").status, 200);
  const auto model = json(get("/v2/models/m"));
  EXPECT_EQ(model["versions"], base::Json({"1"}));
  EXPECT_EQ(model["inputs"],
            base::Json({{{"name", "text"}, {"datatype", "BYTES"}, {"shape", {-1}}}}));
  EXPECT_EQ(model["outputs"][0]["shape"], base::Json({-1, embeddings({"a"})[0].size()}));
  EXPECT_EQ(get("/v2/models/m/versions/2").status, 404);
}

TEST_F(ModelServerTest, WrongRequestsGetTheirOwnProtocolsError) {
  start();
  for (const std::string path : {"/v2/models/m/infer", "/v2/models/absent/infer",
                                 "/v2/models/m/versions/9/infer", "/v2/nothing"}) {
    const auto reply = post(path, path == "/v2/models/m/infer" ? "{" : infer_body({"a"}));
    EXPECT_EQ(reply.status, path == "/v2/models/m/infer" ? 400 : 404) << path;
    EXPECT_TRUE(json(reply)["error"].is_string()) << reply.body;
  }
  for (const std::string body :
       {"{", "{}", R"({"data": {"tensor": {"shape": [1], "values": [1]}}})",
        R"({"data": {"ndarray": [[1.5]]}})"}) {
    const auto reply = post("/predict", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(json(reply)["status"]["reason"], "MICROSERVICE_BAD_DATA") << reply.body;
  }
  net::HttpRequest wrong;
  wrong.method = "PUT";
  wrong.path = "/predict";
  EXPECT_EQ(send(wrong).status, 405);
  EXPECT_EQ(json(send(wrong))["status"]["status"], 1);
  EXPECT_EQ(json(post("/v1/embeddings", R"({"model": "absent", "input": "a"})"))["error"]["code"],
            "model_not_found");
  EXPECT_EQ(json(post("/v1/embeddings", R"({"model": "m", "input": []})"))["error"]["param"],
            "input");
}

TEST_F(ModelServerTest, BodiesOverTheLimitGetTheirOwnProtocolsError) {
  where_.body_bytes_max = 1000;
  start();
  const std::string large = base::dump_json({{"strData", std::string(2000, 'x')}});
  const auto seldon = post("/predict", large);
  EXPECT_EQ(seldon.status, 413);
  EXPECT_EQ(json(seldon)["status"]["status"], 1);
  const auto inference = post("/v2/models/m/infer", large);
  EXPECT_EQ(inference.status, 413);
  EXPECT_TRUE(json(inference)["error"].is_string());
  EXPECT_TRUE(json(post("/v1/embeddings", large))["error"]["message"].is_string());
}

TEST_F(ModelServerTest, ItHasNoCollectionsAndSaysWhoDoes) {
  start();
  for (const std::string path : {"/v1/collections", "/v1/jobs", "/v1/status"}) {
    const auto reply = get(path);
    EXPECT_EQ(reply.status, 404);
    EXPECT_NE(json(reply)["detail"].get<std::string>().find("'models'"), std::string::npos);
  }
  EXPECT_EQ(json(get("/"))["status"], "alive");
  EXPECT_EQ(get("/index.html").status, 404);
  EXPECT_EQ(json(get("/v1/models"))["data"][0]["id"], "m");
  EXPECT_EQ(json(get("/v1/models/node"))["name"], "m");
  EXPECT_EQ(get("/v1/models/absent").status, 404);
  EXPECT_EQ(json(get("/health/ready"))["status"], "ready");
  application_->drain();
  EXPECT_EQ(get("/health/ready").status, 503);
  EXPECT_EQ(get("/v2/health/ready").status, 503);
  EXPECT_EQ(get("/health/status").status, 503);
  EXPECT_EQ(json(post("/predict", R"({"strData": "a"})"))["status"]["status"], 1);
}

TEST_F(ModelServerTest, KeysAreAskedForWhenThereAreSome) {
  const base::TemporaryDirectory folder;
  options_.api_keys_file = base::join_path(folder.path(), "keys");
  ASSERT_TRUE(base::replace_file(
      options_.api_keys_file,
      base::dump_json({{"name", "ci"}, {"sha256", net::sha256_hex("secret")}}) + "\n"));
  start();
  EXPECT_EQ(post("/predict", R"({"strData": "a"})").status, 401);
  EXPECT_EQ(get("/v2/health/ready").status, 200);
  EXPECT_EQ(get("/health/status").status, 200);
  key_ = "secret";
  EXPECT_EQ(post("/predict", R"({"strData": "a"})").status, 200);
}

TEST_F(ModelServerTest, MetricsHaveAnAddressAndAPortOfTheirOwn) {
  options_.model_server.metrics_path = "/prometheus";
  start();
  EXPECT_NE(get("/prometheus").body.find("sibyl_encoder_texts_total"), std::string::npos);
  const auto metrics = make_metrics_application(*application_);
  ListenerOptions where;
  where.http = "127.0.0.1:0";
  where.grpc.clear();
  where.threads = 1;
  const auto listener = Listener::start(*metrics, where);
  ASSERT_TRUE(listener);
  const auto client = net::HttpClient::open({"http://" + (*listener)->http_address(), {}, {}, {}});
  for (const std::string path : {"/prometheus", "/metrics", "/predict"}) {
    net::HttpRequest request;
    request.path = path;
    EXPECT_NE((*client)->send(request)->body.find("sibyl_encoder_texts_total"), std::string::npos);
  }
}

TEST_F(ModelServerTest, AModelThatCannotBeServedStopsTheStart) {
  options_.model_server.models = {{"m", "/nowhere"}};
  const auto missing = Application::open(options_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::NotFound) << missing.error().message;
  const base::TemporaryDirectory folder;
  std::filesystem::copy(test_model("bert"), folder.path() + "/m",
                        std::filesystem::copy_options::recursive);
  ASSERT_TRUE(base::replace_file(
      folder.path() + "/m/sibyl.json",
      base::dump_json({{"format", 1}, {"checksums", {{"config.json", std::string(64, '0')}}}})));
  options_.model_server.models = {{"m", folder.path() + "/m"}};
  const auto damaged = Application::open(options_);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, Code::DataLoss) << damaged.error().message;
}

}  // namespace
}  // namespace sibyl::server
