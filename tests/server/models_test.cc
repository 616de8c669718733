#include <algorithm>
#include <vector>

#include "application_fixture.h"
#include "base/bytes.h"
#include "net/sha256.h"

namespace sibyl::server {
namespace {

TEST_F(ApplicationTest, ModelsAreAskedForInOpenAisForm) {
  const auto list = json(send("GET", "/v1/models"));
  EXPECT_EQ(list["object"], "list");
  EXPECT_TRUE(list["data"].empty());
  const auto missing = send("POST", "/v1/embeddings", R"({"model": "nothing", "input": "a"})");
  EXPECT_EQ(missing.status, 404) << missing.body;
  EXPECT_EQ(json(missing)["error"]["code"], "model_not_found");
  EXPECT_EQ(send("POST", "/v1/embeddings", R"({"model": "nothing", "input": []})").status, 400);
  EXPECT_EQ(json(send("GET", "/v1/models/nothing"))["error"]["type"], "invalid_request_error");
  const auto remote = send("POST", "/v1/models", R"({"name": "m", "uri": "ftp://b/m"})");
  EXPECT_EQ(remote.status, 400);
  EXPECT_EQ(send("POST", "/v1/models", R"({"name": "m", "uri": "https://u:p@h/m"})").status, 400);
  EXPECT_EQ(send("POST", "/v1/models", R"({"name": "m", "uri": "/tmp"})").status, 403);
}

std::string test_model(const std::string& name) {
  return std::string(SIBYL_TEST_DATA) + "/model/" + name;
}

std::vector<float> floats_of(const base::Json& list) {
  std::vector<float> floats;
  for (const auto& value : list) {
    floats.push_back(value.get<float>());
  }
  return floats;
}

TEST_F(ApplicationTest, AnImportedModelGivesItsVectorsInBothForms) {
  const std::string body = base::dump_json({{"name", "tiny"}, {"uri", test_model("bert")}});
  const auto imported = send("POST", "/v1/models", body, true);
  ASSERT_EQ(imported.status, 201) << imported.body;
  EXPECT_EQ(json(imported)["id"], "tiny");
  EXPECT_EQ(json(imported)["default"], true);
  ASSERT_EQ(json(send("GET", "/v1/models"))["data"].size(), 1U);
  EXPECT_FALSE(json(send("GET", "/v1/models"))["data"][0].contains("path"));
  const auto expected = base::parse_json(base::read_file(test_model("bert.expected.json")).value());
  base::Json request = {{"model", "tiny"}, {"input", (*expected)["texts"]}};
  const auto reply = send("POST", "/v1/embeddings", base::dump_json(request));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto data = json(reply)["data"];
  ASSERT_EQ(data.size(), (*expected)["texts"].size());
  for (size_t i = 0; i < data.size(); ++i) {
    const auto got = floats_of(data[i]["embedding"]);
    const auto want = floats_of((*expected)["document"][i]);
    ASSERT_EQ(got.size(), want.size());
    for (size_t j = 0; j < got.size(); ++j) {
      EXPECT_NEAR(got[j], want[j], 1e-5) << i;
    }
  }
  EXPECT_GT(json(reply)["usage"]["total_tokens"].get<int>(), 0);
  request["input"] = "the cat sat on the mat";
  request["encoding_format"] = "base64";
  const auto packed = json(send("POST", "/v1/embeddings", base::dump_json(request)));
  std::string bytes;
  for (const float value : floats_of(data[1]["embedding"])) {
    base::put_f32(bytes, value);
  }
  EXPECT_EQ(packed["data"][0]["embedding"], base::base64(bytes));  // the same bits, alone or not
  request["dimensions"] = 3;
  EXPECT_EQ(send("POST", "/v1/embeddings", base::dump_json(request)).status, 400);
}

TEST_F(ApplicationTest, AModelComesOverTheNetworkAsUploads) {
  base::Json files;
  for (const std::string path :
       {"modules.json", "config.json", "model.safetensors", "tokenizer.json",
        "tokenizer_config.json", "sentence_bert_config.json", "1_Pooling/config.json"}) {
    const auto upload = send("POST", "/v1/uploads?name=" + net::encode_uri_part(path),
                             base::read_file(test_model("bert") + "/" + path).value());
    ASSERT_EQ(upload.status, 201) << upload.body;
    files[path] = json(upload)["id"];
  }
  const auto imported =
      send("POST", "/v1/models", base::dump_json({{"name", "sent"}, {"files", files}}));
  ASSERT_EQ(imported.status, 201) << imported.body;
  EXPECT_EQ(json(send("POST", "/v1/embeddings", R"({"model": "sent@1", "input": ""})"))["object"],
            "list");
}

TEST_F(ApplicationTest, AModelInUseIsKeptAndAnsweredWith) {
  send("POST", "/v1/models", base::dump_json({{"name", "tiny"}, {"uri", test_model("bert")}}),
       true);
  ASSERT_EQ(
      json(send("POST", kDocuments, R"([{"id": "m", "text": "the cat sat on the mat"}])"))["added"],
      1);
  const auto reply = json(send("POST", "/v1/collections/faq/query",
                               R"({"question": "the cat", "pipeline": "document"})"));
  ASSERT_EQ(reply["answers"].size(), 1U);
  EXPECT_EQ(reply["answers"][0]["id"], "m");
  EXPECT_EQ(send("DELETE", "/v1/models/tiny").status, 409);
  EXPECT_EQ(send("DELETE", "/v1/collections/faq").status, 204);
  EXPECT_EQ(send("DELETE", "/v1/models/tiny").status, 204);
  EXPECT_TRUE(json(send("GET", "/v1/models"))["data"].empty());
}

}  // namespace
}  // namespace sibyl::server
