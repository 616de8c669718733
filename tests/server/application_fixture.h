#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/json.h"
#include "net/http_client.h"
#include "server/application.h"
#include "server/listener.h"

namespace sibyl::server {

inline constexpr const char* kDocuments = "/v1/collections/faq/documents";

/// The whole server over an empty data directory, asked over TCP and over its socket.
class ApplicationTest : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    options_.data_directory = base::join_path(folder_.path(), "data");
    auto opened = Application::open(options_);
    ASSERT_TRUE(opened) << opened.error().message;
    application_ = std::move(*opened);
    ListenerOptions where;
    where.http = "127.0.0.1:0";
    where.grpc.clear();
    where.unix_socket = default_socket_path(options_.data_directory);
    auto started = Listener::start(*application_, where);
    ASSERT_TRUE(started) << started.error().message;
    listener_ = std::move(*started);
  }
  void close() {
    listener_.reset();
    application_.reset();
  }
  void reopen() {
    close();
    open();
  }

  net::HttpReply send(net::HttpRequest request, bool over_socket = false) {
    const std::string url = over_socket ? "unix:" + default_socket_path(options_.data_directory)
                                        : "http://" + listener_->http_address();
    const auto client = net::HttpClient::open({url, {}, key_, {}});
    EXPECT_TRUE(client);
    auto reply = (*client)->send(request);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? std::move(*reply) : net::HttpReply();
  }
  net::HttpReply send(const std::string& method, const std::string& path, std::string body = {},
                      bool over_socket = false) {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = std::move(body);
    return send(std::move(request), over_socket);
  }
  static base::Json json(const net::HttpReply& reply) {
    auto parsed = base::parse_json(reply.body);
    EXPECT_TRUE(parsed) << reply.status << " " << reply.body;
    return parsed ? std::move(*parsed) : base::Json();
  }

  base::TemporaryDirectory folder_;
  ApplicationOptions options_;
  std::string key_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace sibyl::server
