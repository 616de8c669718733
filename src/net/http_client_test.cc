#include "net/http_client.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "net/canned_server.h"

namespace sibyl::net {
namespace {

std::unique_ptr<HttpClient> client_of(const std::string& url, const std::string& key = {}) {
  auto client = HttpClient::open({url, {}, key, {}});
  EXPECT_TRUE(client) << client.error().message;
  return client ? std::move(*client) : nullptr;
}

Code code_of(const HttpEndpoint& endpoint) {
  const auto client = HttpClient::open(endpoint);
  return client ? Code::Internal : client.error().code;
}

TEST(HttpClient, AnyStatusIsAReplyAndHeadersAreMerged) {
  CannedServer server(
      "HTTP/1.1 418 Teapot\r\nX-A: 1\r\nx-a:  2 \r\nContent-Length: 3\r\nEmpty:\r\n\r\ntea");
  HttpRequest request;
  request.path = "/a?b=c";
  request.headers["X-Own"] = "yes";
  const auto reply = client_of(server.url(), "key-1")->send(request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 418);
  EXPECT_EQ(reply->headers.at("x-a"), "1, 2");
  EXPECT_EQ(reply->headers.at("empty"), "");
  EXPECT_EQ(reply->body, "tea");
  EXPECT_EQ(server.seen().find("GET /a?b=c HTTP/1.1\r\n"), 0U);
  EXPECT_NE(server.seen().find("X-Own: yes\r\n"), std::string::npos);
  EXPECT_NE(server.seen().find("Authorization: Bearer key-1\r\n"), std::string::npos);
}

// A redirect would carry the key to a host that nobody chose.
TEST(HttpClient, RedirectsAreRepliesAndNotFollowed) {
  CannedServer server(
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  const auto reply = client_of(server.url())->send({});
  ASSERT_FALSE(reply);  // the default request has no path
  HttpRequest request;
  request.path = "/";
  EXPECT_EQ(client_of(server.url())->send(request)->status, 302);
}

TEST(HttpClient, RepliesOverTheLimitAreCutOff) {
  CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" +
                      std::string(100'000, 'x'));
  HttpRequest request;
  request.path = "/";
  request.body_bytes_max = 1000;
  const auto reply = client_of(server.url())->send(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::TooLarge);
}

TEST(HttpClient, SilenceEndsInTimeAndStreamsOnRequest) {
  CannedServer server("", true);
  const auto client = client_of(server.url());
  HttpRequest request;
  request.path = "/";
  request.timeout_ms = 50;
  const auto late = client->send(request);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::DeadlineExceeded);
  request.timeout_ms = 0;
  std::stop_source stop;
  std::thread stopper([&stop] { stop.request_stop(); });
  const auto stopped =
      client->stream(request, [](std::string_view) { return true; }, stop.get_token());
  stopper.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
}

TEST(HttpClient, ALineThatStallsIsGivenUp) {
  CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun", true);
  HttpRequest request;
  request.path = "/";
  request.timeout_ms = 20'000;
  request.stall_ms = 50;
  std::string got;
  const auto start = std::chrono::steady_clock::now();
  const auto reply = client_of(server.url())
                         ->stream(request,
                                  [&](std::string_view piece) {
                                    got += piece;
                                    return true;
                                  },
                                  {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::DeadlineExceeded);
  EXPECT_EQ(got, "begun");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(HttpClient, StreamsGiveTheBodyOfErrorsWhole) {
  CannedServer server("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
  HttpRequest request;
  request.path = "/";
  const auto reply = client_of(server.url())
                         ->stream(request,
                                  [](std::string_view) {
                                    ADD_FAILURE() << "an error is no part of the stream";
                                    return false;
                                  },
                                  {});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "none");
}

TEST(HttpClient, NobodyThereIsUnavailable) {
  HttpRequest request;
  request.path = "/";
  for (const std::string url : {"http://127.0.0.1:1", "unix:/nonexistent/socket"}) {
    const auto reply = client_of(url)->send(request);
    ASSERT_FALSE(reply) << url;
    EXPECT_EQ(reply.error().code, Code::Unavailable);
    EXPECT_NE(reply.error().message.find(url), std::string::npos) << reply.error().message;
  }
}

TEST(HttpClient, WrongEndpointsAreRefused) {
  for (const std::string url : {"", "127.0.0.1:80", "ftp://a", "http://a b", "http://a\nb",
                                "unix:relative", "file:///etc"}) {
    EXPECT_EQ(code_of({url, {}, {}, {}}), Code::InvalidArgument) << url;
  }
  EXPECT_EQ(code_of({"unix:/" + std::string(200, 'a'), {}, {}, {}}), Code::InvalidArgument);
  EXPECT_EQ(code_of({"http://a", {}, "key\r\nX: y", {}}), Code::InvalidArgument);
}

// Whatever ends a header line would let a value add headers of its own.
TEST(HttpClient, NothingIsInjectedIntoARequest) {
  const auto client = client_of("http://127.0.0.1:1");
  const auto refused = [&client](const HttpRequest& request) {
    const auto reply = client->send(request);
    return !reply && reply.error().code == Code::InvalidArgument;
  };
  HttpRequest path;
  path.path = "/a HTTP/1.1\r\nX: y";
  HttpRequest method;
  method.path = "/";
  method.method = "GET /";
  HttpRequest value;
  value.path = "/";
  value.headers["X"] = "a\r\nY: b";
  HttpRequest name;
  name.path = "/";
  name.headers["X: y\r\nZ"] = "a";
  HttpRequest type;
  type.path = "/";
  type.body = "x";
  type.content_type = "a\r\nb";
  for (const HttpRequest& request : {path, method, value, name, type}) {
    EXPECT_TRUE(refused(request));
  }
}

}  // namespace
}  // namespace sibyl::net
