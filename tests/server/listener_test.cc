#include "server/listener.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/file_system.h"
#include "double_application.h"
#include "net/http_client.h"
#include "raw_socket.h"

namespace sibyl::server {
namespace {

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() {
    options_.http = "127.0.0.1:0";
    options_.grpc.clear();
  }
  void start() {
    auto started = Listener::start(application_, options_);
    ASSERT_TRUE(started) << started.error().message;
    listener_ = std::move(*started);
  }
  std::unique_ptr<net::HttpClient> client() {
    return std::move(*net::HttpClient::open({"http://" + listener_->http_address(), {}, {}, {}}));
  }
  net::HttpReply send(const std::string& method, const std::string& path, std::string body = {}) {
    net::HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = std::move(body);
    auto reply = client()->send(request);
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? std::move(*reply) : net::HttpReply();
  }
  std::string raw(std::string_view bytes) {
    RawSocket socket(listener_->http_address());
    EXPECT_TRUE(socket.send(bytes));
    return socket.read_all();
  }

  DoubleApplication application_;
  ListenerOptions options_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, AnswersAndKeepsTheConnection) {
  start();
  RawSocket socket(listener_->http_address());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(socket.send("GET /a HTTP/1.1\r\nHost: a\r\nX-Request-Id: r7\r\n\r\n"));
    const std::string reply = socket.read_until("GET /a");
    EXPECT_EQ(reply.find("HTTP/1.1 200 OK\r\n"), 0U) << reply;
    EXPECT_NE(reply.find("X-Request-Id: r7\r\n"), std::string::npos);
  }
}

TEST_F(ListenerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  const std::string replies = raw(
      "GET /one HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
      "\r\ntwoGET /three HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const size_t one = replies.find("GET /one");
  const size_t two = replies.find("two");
  const size_t three = replies.find("GET /three");
  EXPECT_LT(one, two);
  EXPECT_LT(two, three);
  EXPECT_LT(three, replies.size()) << replies;
}

TEST_F(ListenerTest, HeadHasTheLengthWithoutTheBody) {
  start();
  const std::string reply = raw("HEAD /abc HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_NE(reply.find("Content-Length: 9\r\n"), std::string::npos) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\n<closed>")) << reply;
}

TEST_F(ListenerTest, LargeBodiesComeAndGoWhole) {
  start();
  std::string body(5'000'000, 'x');
  for (size_t i = 0; i < body.size(); i += 1000) {
    body[i] = static_cast<char>('a' + i / 1000 % 26);
  }
  EXPECT_EQ(send("POST", "/echo", body).body, body);
}

TEST_F(ListenerTest, ABodyOverTheLimitIsRefusedBeforeItIsRead) {
  options_.body_bytes_max = 1000;
  start();
  EXPECT_EQ(send("POST", "/echo", std::string(1000, 'x')).status, 200);
  // The announced length is enough: none of the body was sent.
  const std::string reply =
      raw("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(reply.find("HTTP/1.1 413 "), 0U) << reply;
  EXPECT_NE(reply.find("application/problem+json"), std::string::npos);
  EXPECT_NE(reply.find("X-Request-Id: "), std::string::npos);
  // A peer that sends it all the same reads the refusal, not a broken connection.
  EXPECT_EQ(send("POST", "/echo", std::string(3'000'000, 'x')).status, 413);
  EXPECT_EQ(application_.handled, 1);
}

TEST_F(ListenerTest, AllBodiesTogetherAreBounded) {
  options_.bodies_bytes_max = 2000;
  start();
  RawSocket first(listener_->http_address());
  ASSERT_TRUE(first.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1500\r\n\r\n"));
  std::string reply;
  for (int i = 0; i < 100 && reply.find("HTTP/1.1 429 ") != 0; ++i) {  // until the first was read
    reply =
        raw("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1500\r\nConnection: close\r\n\r\n" +
            std::string(1500, 'x'));
  }
  EXPECT_EQ(reply.find("HTTP/1.1 429 "), 0U) << reply;
  EXPECT_NE(reply.find("Retry-After: "), std::string::npos);
  ASSERT_TRUE(first.send(std::string(1500, 'y')));
  EXPECT_EQ(first.read_until("yyy").find("HTTP/1.1 200 "), 0U);
}

TEST_F(ListenerTest, ContinueIsSaidToThoseWhoWaitForIt) {
  options_.body_bytes_max = 1000;
  start();
  RawSocket socket(listener_->http_address());
  ASSERT_TRUE(socket.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_EQ(socket.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(socket.send("hello"));
  EXPECT_NE(socket.read_until("hello").find("200 OK"), std::string::npos);
  const std::string refused =
      raw("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_EQ(refused.find("HTTP/1.1 413 "), 0U) << refused;
}

TEST_F(ListenerTest, ChunkedBodiesAreReadWithinTheLimit) {
  options_.body_bytes_max = 10;
  start();
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_NE(raw(head + "5\r\nhello\r\n0\r\n\r\n").find("\r\n\r\nhello"), std::string::npos);
  EXPECT_EQ(raw(head + "5\r\nhello\r\n6\r\nworlds\r\n0\r\n\r\n").find("HTTP/1.1 413 "), 0U);
}

TEST_F(ListenerTest, NonsenseIsRefusedAndTheServerGoesOn) {
  start();
  EXPECT_EQ(raw("nonsense\r\n\r\n").find("HTTP/1.1 400 "), 0U);
  EXPECT_EQ(
      raw(std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8) + "\r\n\r\n").find("HTTP/1.1 400 "),
      0U);
  EXPECT_EQ(
      raw("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(70'000, 'x')).find("HTTP/1.1 431 "), 0U);
  EXPECT_EQ(send("GET", "/a").status, 200);
}

// A peer that sends a header byte by byte must not hold a connection for ever.
TEST_F(ListenerTest, SlowHeadersAndIdleConnectionsAreClosed) {
  options_.header_timeout_ms = 150;
  options_.idle_timeout_ms = 150;
  start();
  RawSocket slow(listener_->http_address());
  ASSERT_TRUE(slow.send("GET / HTTP/1.1\r\nHo"));
  EXPECT_EQ(slow.read_all(), "<closed>");
  RawSocket idle(listener_->http_address());
  ASSERT_TRUE(idle.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_TRUE(idle.read_all().ends_with("GET /a<closed>"));
  RawSocket silent(listener_->http_address());
  EXPECT_EQ(silent.read_all(), "<closed>");
}

TEST_F(ListenerTest, SlowBodiesAreGivenUp) {
  options_.body_timeout_ms = 150;
  start();
  RawSocket slow(listener_->http_address());
  ASSERT_TRUE(slow.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc"));
  EXPECT_EQ(slow.read_all(), "<closed>");
  EXPECT_EQ(application_.handled, 0);
}

TEST_F(ListenerTest, ConnectionsOverTheLimitAreToldSo) {
  options_.connections_max = 2;
  start();
  RawSocket one(listener_->http_address());
  RawSocket two(listener_->http_address());
  ASSERT_TRUE(one.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(two.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"));
  one.read_until("GET /1");
  two.read_until("GET /2");
  RawSocket three(listener_->http_address());
  EXPECT_EQ(three.read_all().find("HTTP/1.1 503 "), 0U);
}

// Adding documents may take minutes; questions are answered all the while.
TEST_F(ListenerTest, LongRequestsDoNotKeepQuickOnesWaiting) {
  start();
  std::vector<std::thread> adders;
  for (int i = 0; i < 6; ++i) {
    adders.emplace_back([this] { EXPECT_EQ(send("POST", "/long").status, 200); });
  }
  application_.wait_for(4);  // the long lane is full, two wait
  EXPECT_EQ(send("GET", "/question").status, 200);
  application_.release();
  for (std::thread& adder : adders) {
    adder.join();
  }
}

TEST_F(ListenerTest, HealthIsAnsweredWhenEveryWorkerIsBusy) {
  options_.threads = 1;
  start();
  std::thread busy([this] { EXPECT_EQ(send("GET", "/quick").status, 200); });
  application_.wait_for(1);
  EXPECT_EQ(send("GET", "/health/live").status, 200);
  application_.release();
  busy.join();
}

TEST_F(ListenerTest, StreamsComeAsTheyAreWrittenAndEndWithTheClient) {
  start();
  net::HttpRequest request;
  request.path = "/stream";
  std::string got;
  const auto reply = client()->stream(request,
                                      [&got](std::string_view piece) {
                                        got += piece;
                                        return got.find("data: 4\n\n") == std::string::npos;
                                      },
                                      {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(got.find("data: 0\n\ndata: 1\n\n"), 0U);
  listener_->stop();
  EXPECT_TRUE(application_.stream_ended);
}

TEST_F(ListenerTest, StreamsOverTheLimitAreRefused) {
  options_.streams_max = 1;
  start();
  RawSocket first(listener_->http_address());
  ASSERT_TRUE(first.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  first.read_until("data: 0");
  EXPECT_EQ(send("GET", "/stream").status, 429);
}

TEST_F(ListenerTest, OldClientsGetStreamsWithoutChunks) {
  start();
  RawSocket socket(listener_->http_address());
  ASSERT_TRUE(socket.send("GET /stream HTTP/1.0\r\n\r\n"));
  const std::string got = socket.read_until("data: 2\n\n");
  EXPECT_NE(got.find("\r\n\r\ndata: 0\n\ndata: 1\n\ndata: 2\n\n"), std::string::npos) << got;
}

TEST_F(ListenerTest, DrainingLetsRunningRequestsEndAndClosesTheRest) {
  start();
  RawSocket idle(listener_->http_address());
  RawSocket streaming(listener_->http_address());
  ASSERT_TRUE(streaming.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  streaming.read_until("data: 0");
  RawSocket running(listener_->http_address());
  ASSERT_TRUE(running.send("POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
  application_.wait_for(1);
  const std::string address = listener_->http_address();
  std::thread stopping([this] { listener_->stop(); });
  EXPECT_EQ(idle.read_all(), "<closed>");
  EXPECT_TRUE(streaming.read_all().ends_with("0\r\n\r\n<closed>"));  // a whole body
  EXPECT_FALSE(RawSocket(address).connected());
  application_.release();
  const std::string reply = running.read_all();
  EXPECT_EQ(reply.find("HTTP/1.1 200 OK"), 0U) << reply;
  EXPECT_NE(reply.find("Connection: close"), std::string::npos);
  stopping.join();
}

TEST_F(ListenerTest, DrainingAsksRequestsToStopWhenTheyTakeTooLong) {
  options_.drain_timeout_ms = 50;
  start();
  std::thread stuck([this] { EXPECT_EQ(send("POST", "/long").status, 200); });
  application_.wait_for(1);
  listener_->stop();
  stuck.join();
}

TEST_F(ListenerTest, APortInUseIsNamed) {
  start();
  options_.http = listener_->http_address();
  const auto second = Listener::start(application_, options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::Unavailable);
  EXPECT_NE(second.error().message.find(options_.http), std::string::npos);
}

TEST_F(ListenerTest, WithoutKeysOnlyLoopbackIsBound) {
  for (const std::string address : {":0", "0.0.0.0:0", "[::]:0"}) {
    options_.http = address;
    const auto refused = Listener::start(application_, options_);
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().code, Code::InvalidConfig);
  }
  application_.keys = true;
  options_.http = "0.0.0.0:0";
  EXPECT_TRUE(Listener::start(application_, options_));
}

TEST_F(ListenerTest, WrongAddressesAreConfigurationErrors) {
  for (const std::string address : {"nonsense", "127.0.0.1:99999", "host.invalid:0"}) {
    options_.http = address;
    const auto refused = Listener::start(application_, options_);
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().code, Code::InvalidConfig) << refused.error().message;
  }
}

TEST_F(ListenerTest, TheUnixSocketIsPrivateAndSaysWhoAsks) {
  const base::TemporaryDirectory folder;
  options_.unix_socket = base::join_path(folder.path(), "s");
  start();
  EXPECT_EQ(application_.announced, options_.unix_socket);
  struct stat status{};
  ASSERT_EQ(stat(options_.unix_socket.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const auto client = net::HttpClient::open({"unix:" + options_.unix_socket, {}, {}, {}});
  ASSERT_TRUE(client);
  net::HttpRequest request;
  request.path = "/peer";
  EXPECT_EQ((*client)->send(request)->body, "unix");
  EXPECT_EQ(send("GET", "/peer").body, "tcp");
  const auto second = Listener::start(application_, options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::Unavailable);
  listener_->stop();
  EXPECT_FALSE(base::real_file_system().exists(options_.unix_socket));
}

TEST_F(ListenerTest, AStaleSocketIsReplacedAndAFileIsNot) {
  const base::TemporaryDirectory folder;
  options_.http.clear();
  options_.unix_socket = base::join_path(folder.path(), "s");
  const int stale = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  options_.unix_socket.copy(where.sun_path, sizeof(where.sun_path) - 1);
  ASSERT_EQ(::bind(stale, reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
  ::close(stale);
  start();
  listener_.reset();
  ASSERT_TRUE(base::replace_file(options_.unix_socket, "precious"));
  const auto refused = Listener::start(application_, options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::AlreadyExists);
  EXPECT_EQ(base::read_file(options_.unix_socket).value(), "precious");
}

}  // namespace
}  // namespace sibyl::server
