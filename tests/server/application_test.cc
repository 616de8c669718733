#include "server/application.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "application_fixture.h"
#include "base/file_system.h"
#include "base/gzip.h"
#include "base/json.h"
#include "net/http_client.h"
#include "net/sha256.h"

namespace sibyl::server {
namespace {

TEST_F(ApplicationTest, DocumentsComeBackAsTheyWereGiven) {
  const auto added =
      send("POST", kDocuments,
           R"([{"id": "a", "text": "Reset your password on the login page.", "tag": 5},
                              {"id": "b", "text": "Invoices are sent every month."},
                              {"id": "c"}])");
  ASSERT_EQ(added.status, 200) << added.body;
  EXPECT_EQ(json(added)["added"], 2);
  ASSERT_EQ(json(added)["failed"].size(), 1U);
  EXPECT_EQ(json(added)["failed"][0]["line"], 3);
  EXPECT_NE(json(added)["failed"][0]["error"].get<std::string>().find("text"), std::string::npos);
  const auto again =
      send("POST", kDocuments, R"({"id": "b", "text": "Invoices are sent every month."}
{"id": "a", "text": "changed"})");
  EXPECT_EQ(json(again)["unchanged"], 1);
  EXPECT_EQ(json(again)["updated"], 1);
  EXPECT_EQ(json(send("GET", "/v1/collections/faq/documents/a"))["text"], "changed");
  EXPECT_EQ(send("POST", kDocuments, "[{\"id\": \"x\", ").status, 400);
  reopen();
  EXPECT_EQ(json(send("GET", "/v1/collections/faq/documents/b"))["text"],
            "Invoices are sent every month.");
}

TEST_F(ApplicationTest, IdsMayHoldAnything) {
  for (const std::string id : {"a/b", "100%", "%2F", "a b?c#d", "\xC3\xA9", "..", "a+b"}) {
    const std::string body = base::dump_json(base::Json::array({{{"id", id}, {"text", "t"}}}));
    ASSERT_EQ(json(send("POST", kDocuments, body))["added"], 1) << id;
    const std::string path = std::string(kDocuments) + "/" + net::encode_uri_part(id);
    EXPECT_EQ(json(send("GET", path))["id"], id);
    EXPECT_EQ(send("DELETE", path).status, 204) << id;
    EXPECT_EQ(send("DELETE", path).status, 404) << id;
    EXPECT_EQ(send("GET", path).status, 404) << id;
  }
}

TEST_F(ApplicationTest, PagesOfDocumentsFollowOneAnother) {
  std::string body;
  for (int i = 0; i < 120; ++i) {
    body += fmt::format(R"({{"id": "d{:03}", "text": "number {}"}})", i, i) + "\n";
  }
  ASSERT_EQ(json(send("POST", kDocuments, body))["added"], 120);
  std::vector<std::string> ids;
  std::string after;
  for (int page = 0; page < 10; ++page) {
    const auto reply = json(send("GET", std::string(kDocuments) + "?limit=55&after=" + after));
    for (const auto& document : reply["documents"]) {
      ids.push_back(document["id"]);
    }
    if (reply["next"].is_null()) {
      break;
    }
    after = reply["next"];
  }
  ASSERT_EQ(ids.size(), 120U);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(send("GET", std::string(kDocuments) + "?limit=0").status, 400);
}

TEST_F(ApplicationTest, QuestionsAreAnsweredByKeywordsWithoutAModel) {
  ASSERT_EQ(
      send("POST", kDocuments,
           R"([{"id": "p", "title": "Passwords", "text": "Reset your password on the login page."},
                     {"id": "i", "text": "Invoices are sent every month."}])")
          .status,
      200);
  const auto reply =
      send("POST", "/v1/collections/faq/query", R"({"question": "reset password", "top": 2})");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto answers = json(reply)["answers"];
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0]["id"], "p");
  EXPECT_EQ(json(reply)["collection"], "faq");
  const auto misspelt = send("POST", "/v1/collections/faq/query", R"({"qestion": "x"})");
  EXPECT_EQ(misspelt.status, 400);
  EXPECT_EQ(misspelt.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(send("POST", "/v1/collections/nothing/query", R"({"question": "x"})").status, 404);
}

TEST_F(ApplicationTest, CollectionsAreMadeChangedAndDropped) {
  const auto made = send("PUT", "/v1/collections/c", R"({"chunking": "off"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto changed = send("PUT", "/v1/collections/c", R"({"pipeline": "bm25"})");
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(json(changed)["settings"]["chunking"], "off");
  EXPECT_EQ(json(changed)["settings"]["pipeline"], "bm25");
  EXPECT_EQ(send("PUT", "/v1/collections/c", R"({"model": "nothing"})").status, 404);
  EXPECT_EQ(send("PUT", "/v1/collections/c", R"({"modle": "x"})").status, 400);
  EXPECT_EQ(send("PUT", "/v1/collections/c", "[]").status, 400);
  EXPECT_EQ(json(send("GET", "/v1/collections"))["collections"].size(), 1U);
  const auto compacted = send("POST", "/v1/collections/c/compact");
  EXPECT_EQ(compacted.status, 200);
  EXPECT_EQ(json(compacted)["health"], "ok");
  EXPECT_TRUE(json(compacted)["operation"].is_null());
  EXPECT_TRUE(json(compacted)["vectors"].is_array());
  EXPECT_EQ(json(compacted)["logs"], 1);
  EXPECT_EQ(send("DELETE", "/v1/collections/c/operation").status, 404);
  EXPECT_EQ(send("DELETE", "/v1/collections/nothing/operation").status, 404);
  EXPECT_EQ(send("DELETE", "/v1/collections/c").status, 204);
  EXPECT_EQ(send("GET", "/v1/collections/c").status, 404);
}

TEST_F(ApplicationTest, WrongAddressesAndMethodsAreTold) {
  const auto wrong = send("PATCH", "/v1/jobs");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "POST, GET, HEAD, OPTIONS");
  EXPECT_EQ(send("GET", "/v1/nothing").status, 404);
  EXPECT_EQ(send("POST", "/nothing").status, 404);
  for (const std::string path : {"/transform-input", "/route", "/aggregate"}) {
    const auto later = send("POST", path, "{}");
    EXPECT_EQ(later.status, 501) << path;
    EXPECT_NE(later.body.find(path), std::string::npos);
  }
  const auto options = send("OPTIONS", "/v1/jobs");
  EXPECT_EQ(options.status, 204);
}

TEST_F(ApplicationTest, EveryReplyHasTheRequestsId) {
  net::HttpRequest request;
  request.path = "/v1/nothing";
  request.headers["X-Request-Id"] = "trace-7";
  EXPECT_EQ(send(request).headers.at("x-request-id"), "trace-7");
  EXPECT_EQ(send("GET", "/health/live").headers.at("x-request-id").size(), 16U);
}

TEST_F(ApplicationTest, OtherHostsAndSitesAreRefused) {
  net::HttpRequest request;
  request.path = "/v1/collections";
  request.headers["Host"] = "evil.example";
  EXPECT_EQ(send(request).status, 403);
  request.headers = {{"Origin", "http://evil.example"}};
  EXPECT_EQ(send(request).status, 403);
  request.headers = {{"Origin", "http://" + listener_->http_address()}};
  EXPECT_EQ(send(request).status, 200);
  request.headers = {{"Host", "evil.example"}};
  EXPECT_EQ(send(request, true).status, 200);  // the socket's peers are trusted
}

TEST_F(ApplicationTest, KeysAreAskedForWhenThereAreSome) {
  close();
  options_.api_keys_file = base::join_path(folder_.path(), "keys");
  ASSERT_TRUE(base::replace_file(options_.api_keys_file, R"({"name": "ci", "sha256": ")" +
                                                             net::sha256_hex("secret") + "\"}\n"));
  open();
  EXPECT_EQ(send("GET", "/v1/collections").status, 401);
  EXPECT_EQ(send("GET", "/health/live").status, 200);
  EXPECT_EQ(send("GET", "/metrics").status, 401);
  key_ = "secret";
  EXPECT_EQ(send("GET", "/v1/collections").status, 200);
  key_ = "wrong";
  EXPECT_EQ(send("GET", "/v1/collections").status, 401);
}

TEST_F(ApplicationTest, PackedBodiesAreRead) {
  net::HttpRequest request;
  request.method = "POST";
  request.path = kDocuments;
  request.body = base::gzip(R"([{"id": "z", "text": "packed"}])");
  request.headers["Content-Encoding"] = "gzip";
  EXPECT_EQ(json(send(request))["added"], 1);
  request.body.resize(request.body.size() / 2);
  EXPECT_EQ(send(request).status, 400);
  request.headers["Content-Encoding"] = "br";
  EXPECT_EQ(send(request).status, 415);
}

TEST_F(ApplicationTest, JobsOverTheNetworkNeverNameFilesOfTheServer) {
  const auto refused =
      send("POST", "/v1/jobs",
           R"({"kind": "supervised", "name": "m", "data": {"pairs": "/etc/passwd"}})");
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_EQ(json(refused)["field"], "data.pairs");
  const auto misspelt = send("POST", "/v1/jobs", R"({"knid": "supervised"})");
  EXPECT_EQ(misspelt.status, 400) << misspelt.body;
  EXPECT_EQ(send("GET", "/v1/jobs/nothing").status, 404);
  EXPECT_EQ(send("GET", "/v1/jobs/nothing/events").status, 404);
  EXPECT_EQ(send("DELETE", "/v1/jobs/..%2F..").status, 404);
  EXPECT_TRUE(json(send("GET", "/v1/jobs"))["jobs"].empty());
}

TEST_F(ApplicationTest, UploadsAreKeptByTheirHash) {
  const auto upload = send("POST", "/v1/uploads?name=pairs.jsonl", "{}\n");
  EXPECT_EQ(upload.status, 201);
  EXPECT_EQ(json(upload)["id"], net::sha256_hex("{}\n") + ".jsonl");
  EXPECT_EQ(json(send("GET", "/v1/uploads"))["uploads"].size(), 1U);
  EXPECT_EQ(send("DELETE", "/v1/uploads/" + json(upload)["id"].get<std::string>()).status, 204);
  EXPECT_EQ(send("POST", "/v1/uploads").status, 400);
}

TEST_F(ApplicationTest, FeedbackBecomesTrainingRows) {
  send("POST", kDocuments, R"([{"id": "p#1", "text": "Reset your password."}])");
  const auto kept = send("POST", "/v1/feedback",
                         R"({"collection": "faq", "question": "how?", "passage_id": "p#1#0"})");
  ASSERT_EQ(kept.status, 201) << kept.body;
  EXPECT_EQ(json(kept)["answer_id"], "p#1");
  EXPECT_EQ(send("POST", "/v1/feedback",
                 R"({"collection": "faq", "question": "how?", "passage_id": "nothing#0"})")
                .status,
            404);
  reopen();
  EXPECT_EQ(json(send("GET", "/v1/feedback"))["feedback"].size(), 1U);
  EXPECT_EQ(send("GET", "/v1/feedback?format=pairs").body,
            "{\"question\":\"how?\",\"answer_id\":\"p#1\"}\n");
}

TEST_F(ApplicationTest, StatusMetricsAndDescriptionAreThere) {
  send("POST", kDocuments, R"([{"id": "a", "text": "t"}])");
  const auto status = json(send("GET", "/v1/status"));
  EXPECT_EQ(status["version"], std::string(version()));
  EXPECT_FALSE(status.contains("directory"));
  ASSERT_EQ(status["collections"].size(), 1U);
  EXPECT_EQ(status["collections"][0]["rows"], 1);
  EXPECT_EQ(send("GET", "/v1/status?verify=true").status, 403);
  const auto verified = json(send("GET", "/v1/status?verify=true", {}, true));
  EXPECT_TRUE(verified["damage"].empty());
  EXPECT_EQ(verified["directory"].get<std::string>().substr(0, 1), "/");
  const auto metrics = send("GET", "/metrics");
  EXPECT_NE(metrics.body.find("sibyl_http_requests_total{route=\"/v1/collections/{collection}/"
                              "documents\",status=\"200\"}"),
            std::string::npos)
      << metrics.body;
  EXPECT_EQ(json(send("GET", "/openapi.json"))["openapi"], "3.1.0");
  EXPECT_EQ(send("GET", "/").status, 200);
}

TEST_F(ApplicationTest, ADirectoryHasOneOwner) {
  const auto second = Application::open(options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::Unavailable);
  const std::string socket = default_socket_path(options_.data_directory);
  EXPECT_EQ(owner_socket(options_.data_directory).value(), socket);
  EXPECT_NE(second.error().message.find(socket), std::string::npos) << second.error().message;
  listener_.reset();
  EXPECT_EQ(owner_socket(options_.data_directory).error().code, Code::Unavailable);
  application_.reset();
  EXPECT_EQ(owner_socket(options_.data_directory).error().code, Code::Unavailable);
  EXPECT_TRUE(Application::open(options_));
}

TEST_F(ApplicationTest, DrainingIsNotReady) {
  EXPECT_EQ(send("GET", "/health/ready").status, 200);
  application_->drain();
  EXPECT_EQ(send("GET", "/health/ready").status, 503);
  EXPECT_EQ(send("GET", "/health/live").status, 200);
  EXPECT_EQ(send("GET", "/v1/collections").status, 503);
}

}  // namespace
}  // namespace sibyl::server
