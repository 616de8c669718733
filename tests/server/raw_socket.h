#pragma once

#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sibyl::server {

/// A TCP connection to a port of this machine that says exactly what a test wants said.
class RawSocket {
 public:
  explicit RawSocket(const std::string& address) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
  }
  ~RawSocket() { ::close(socket_); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  /// What comes until `end` was read, the peer closes or nothing came for five seconds.
  std::string read_until(std::string_view end) {
    std::string got;
    char piece[4096];
    while (got.find(end) == std::string::npos) {
      pollfd waiting{socket_, POLLIN, 0};
      if (::poll(&waiting, 1, 5000) <= 0) {
        return got + "<nothing came>";
      }
      const ssize_t bytes = ::recv(socket_, piece, sizeof(piece), 0);
      if (bytes <= 0) {
        return got + "<closed>";
      }
      got.append(piece, static_cast<size_t>(bytes));
    }
    return got;
  }
  std::string read_all() { return read_until("<closed>"); }

 private:
  int socket_ = -1;
  bool connected_ = false;
};

}  // namespace sibyl::server
