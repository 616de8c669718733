#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "encoder/remote_encoder.h"

namespace sibyl::encoder {
namespace {

/// Says one canned reply to every request of every connection; a request is what has no body.
class KeepAliveServer {
 public:
  explicit KeepAliveServer(std::string reply) : reply_(std::move(reply)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    socklen_t length = sizeof(where);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &length);
    url = "http://127.0.0.1:" + std::to_string(ntohs(where.sin_port));
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~KeepAliveServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (const int peer : peers_) {
      ::shutdown(peer, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
    for (const int peer : peers_) {
      ::close(peer);
    }
    ::close(listener_);
  }
  KeepAliveServer(const KeepAliveServer&) = delete;
  KeepAliveServer& operator=(const KeepAliveServer&) = delete;

  std::string url;
  std::atomic<int> connections = 0;

 private:
  void accept_all() {
    for (int peer = ::accept(listener_, nullptr, nullptr); peer >= 0;
         peer = ::accept(listener_, nullptr, nullptr)) {
      ++connections;
      peers_.push_back(peer);
      threads_.emplace_back([this, peer] { answer(peer); });
    }
  }
  void answer(int peer) const {
    std::string head;
    char piece[1024];
    for (ssize_t bytes = ::recv(peer, piece, sizeof(piece), 0); bytes > 0;
         bytes = ::recv(peer, piece, sizeof(piece), 0)) {
      head.append(piece, static_cast<size_t>(bytes));
      if (head.ends_with("\r\n\r\n")) {
        head.clear();
        ::send(peer, reply_.data(), reply_.size(), MSG_NOSIGNAL);
      }
    }
  }

  const std::string reply_;
  int listener_ = -1;
  std::thread acceptor_;
  std::vector<int> peers_;  // the acceptor's until it has ended
  std::vector<std::thread> threads_;
};

net::HttpRequest request() {
  net::HttpRequest made;
  made.path = "/";
  made.timeout_ms = 20'000;
  return made;
}

TEST(RemoteTransport, KeepsConnectionsUnlessANewOneIsWanted) {
  KeepAliveServer server("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 3\r\n\r\nyes");
  const auto transport = make_remote_transport({server.url, {}, {}, {}});
  for (int i = 0; i < 3; ++i) {
    const auto reply = transport->send(request(), false, {});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->body, "yes");
    EXPECT_EQ(reply->headers.at("x-a"), "b");
  }
  EXPECT_EQ(server.connections, 1);
  ASSERT_TRUE(transport->send(request(), true, {}));
  EXPECT_EQ(server.connections, 2);
}

TEST(RemoteTransport, ErrorRepliesKeepTheirBody) {
  KeepAliveServer server("HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 4\r\n\r\nbusy");
  const auto reply = make_remote_transport({server.url, {}, {}, {}})->send(request(), false, {});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(reply->body, "busy");
  EXPECT_EQ(reply->headers.at("retry-after"), "2");
}

TEST(RemoteTransport, LargeRepliesAreCutOff) {
  KeepAliveServer server("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" +
                         std::string(100'000, 'x'));
  net::HttpRequest small = request();
  small.body_bytes_max = 1000;
  const auto reply = make_remote_transport({server.url, {}, {}, {}})->send(small, false, {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::Unavailable);
}

TEST(RemoteTransport, AStopEndsAWaitForAServerThatSaysNothing) {
  KeepAliveServer server("");
  std::stop_source stop;
  std::jthread stopper([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const auto transport = make_remote_transport({server.url, {}, {}, {}});
  const auto reply = transport->send(request(), false, stop.get_token());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::Interrupted);
  EXPECT_TRUE(transport->wait(60'000'000, stop.get_token()));
}

TEST(RemoteTransport, NobodyThereIsUnavailable) {
  std::string url;
  {
    KeepAliveServer gone("");
    url = gone.url;
  }
  const auto reply = make_remote_transport({url, {}, {}, {}})->send(request(), false, {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::Unavailable);
}

}  // namespace
}  // namespace sibyl::encoder
