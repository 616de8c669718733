#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>

namespace sibyl::server {

using StreamSocket = boost::asio::generic::stream_protocol::socket;

/// The bytes of a connection, plain or TLS, with a deadline. Used on its socket's thread only.
/// Every call ends with false (or 0 bytes) when the peer is gone, the deadline passed or `cancel`
/// was called; the connection is then good for nothing but `close`.
class Transport {
 public:
  static std::unique_ptr<Transport> create(StreamSocket socket, boost::asio::ssl::context* tls);
  virtual ~Transport() = default;
  virtual boost::asio::any_io_executor executor() = 0;
  /// When the calls that begin from now on must have ended.
  virtual void expires_after(std::chrono::milliseconds time) = 0;
  virtual boost::asio::awaitable<bool> handshake() = 0;
  /// At least one byte; 0 at the end.
  virtual boost::asio::awaitable<size_t> read_some(std::span<char> into) = 0;
  /// Both parts whole, one behind the other.
  virtual boost::asio::awaitable<bool> write(std::string_view first, std::string_view second) = 0;
  /// Says to the peer that nothing more comes.
  virtual boost::asio::awaitable<void> shutdown() = 0;
  virtual void cancel() = 0;
  virtual void close() = 0;
};

}  // namespace sibyl::server
