#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/json.h"
#include "net/http_client.h"
#include "server/application.h"
#include "server/listener.h"

namespace sibyl::server {

inline std::string test_model(const std::string& name) {
  return std::string(SIBYL_TEST_DATA) + "/model/" + name;
}

/// A model server over the tiny transformer, asked over HTTP and gRPC.
class ModelServerTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.role = Role::Models;
    options_.model_server.models = {{"m", test_model("bert")}};
    options_.model_server.alias = "node";
    options_.model_server.threads = 1;
    where_.http = "127.0.0.1:0";
    where_.grpc = "127.0.0.1:0";
  }
  void start() {
    auto opened = Application::open(options_);
    ASSERT_TRUE(opened) << opened.error().message;
    application_ = std::move(*opened);
    auto started = Listener::start(*application_, where_);
    ASSERT_TRUE(started) << started.error().message;
    listener_ = std::move(*started);
  }
  void TearDown() override {
    listener_.reset();
    application_.reset();
  }

  net::HttpReply send(net::HttpRequest request) {
    const auto client =
        net::HttpClient::open({"http://" + listener_->http_address(), {}, key_, {}});
    EXPECT_TRUE(client);
    auto reply = (*client)->send(request);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? std::move(*reply) : net::HttpReply();
  }
  net::HttpReply post(const std::string& path, std::string body,
                      const std::string& content_type = "application/json") {
    net::HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.body = std::move(body);
    request.content_type = content_type;
    return send(std::move(request));
  }
  net::HttpReply get(const std::string& path) {
    net::HttpRequest request;
    request.path = path;
    return send(std::move(request));
  }
  static base::Json json(const net::HttpReply& reply) {
    auto parsed = base::parse_json(reply.body);
    EXPECT_TRUE(parsed) << reply.status << " " << reply.body;
    return parsed ? std::move(*parsed) : base::Json();
  }
  std::shared_ptr<grpc::Channel> channel() {
    return grpc::CreateChannel(listener_->grpc_address(), grpc::InsecureChannelCredentials());
  }

  /// What the encoder gives for these texts, by the door that has been there longest.
  std::vector<std::vector<float>> embeddings(const std::vector<std::string>& texts) {
    const auto reply = post("/v1/embeddings", base::dump_json({{"model", "m"}, {"input", texts}}));
    EXPECT_EQ(reply.status, 200) << reply.body;
    std::vector<std::vector<float>> vectors;
    const base::Json parsed = json(reply);
    for (const auto& row : parsed.at("data")) {
      vectors.push_back(row["embedding"].get<std::vector<float>>());
    }
    return vectors;
  }

  ApplicationOptions options_;
  ListenerOptions where_;
  std::string key_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<Listener> listener_;
};

inline const std::vector<std::string> kTexts = {"the cat sat on the mat", "", "a dog & a <cat>"};

}  // namespace sibyl::server
