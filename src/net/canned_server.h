#pragma once

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sibyl::net {

/// For tests: takes one connection after the other, reads a request's head, says a canned reply and
/// closes.
class CannedServer {
 public:
  explicit CannedServer(std::string reply, bool stay_open = false)
      : reply_(std::move(reply)), stay_open_(stay_open) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0 ||
        ::listen(listener_, 8) != 0) {
      std::abort();  // no test can go on without its server
    }
    socklen_t length = sizeof(where);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &length);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(where.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~CannedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const std::string& url() const { return url_; }
  const std::string& seen() const { return seen_; }

 private:
  void serve() {
    int peer = ::accept(listener_, nullptr, nullptr);
    while (peer >= 0) {
      std::string head;
      char piece[1024];
      ssize_t bytes = 1;
      while (bytes > 0 && head.find("\r\n\r\n") == std::string::npos) {
        bytes = ::recv(peer, piece, sizeof(piece), 0);
        head.append(piece, bytes > 0 ? static_cast<size_t>(bytes) : 0);
      }
      seen_ = head;
      ::send(peer, reply_.data(), reply_.size(), MSG_NOSIGNAL);
      while (stay_open_ && ::recv(peer, piece, sizeof(piece), 0) > 0) {
      }
      ::close(peer);
      peer = ::accept(listener_, nullptr, nullptr);
    }
  }

  const std::string reply_;
  const bool stay_open_;
  int listener_ = -1;
  std::string url_;
  std::string seen_;
  std::thread thread_;
};

}  // namespace sibyl::net
