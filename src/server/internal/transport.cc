#include "server/internal/transport.h"

#include <array>
#include <type_traits>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>

namespace sibyl::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

using PlainStream = beast::basic_stream<asio::generic::stream_protocol>;
using TlsStream = asio::ssl::stream<PlainStream>;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

template <class Stream>
class StreamTransport final : public Transport {
 public:
  explicit StreamTransport(Stream stream) : stream_(std::move(stream)) {}

  asio::any_io_executor executor() override { return lowest().get_executor(); }
  void expires_after(std::chrono::milliseconds time) override { lowest().expires_after(time); }

  asio::awaitable<bool> handshake() override {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kTuple);
      co_return !error;
    } else {
      co_return true;
    }
  }
  asio::awaitable<size_t> read_some(std::span<char> into) override {
    const auto [error, bytes] =
        co_await stream_.async_read_some(asio::mutable_buffer(into.data(), into.size()), kTuple);
    co_return error ? 0 : bytes;
  }
  asio::awaitable<bool> write(std::string_view first, std::string_view second) override {
    const std::array<asio::const_buffer, 2> parts = {
        asio::const_buffer(first.data(), first.size()),
        asio::const_buffer(second.data(), second.size())};
    const auto [error, bytes] = co_await asio::async_write(stream_, parts, kTuple);
    co_return !error;
  }
  asio::awaitable<void> shutdown() override {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      co_await stream_.async_shutdown(kTuple);
    }
    beast::error_code ignored;  // a peer that is gone already is as good
    lowest().socket().shutdown(asio::socket_base::shutdown_send, ignored);
    co_return;
  }
  void cancel() override { lowest().cancel(); }
  void close() override { lowest().close(); }

 private:
  PlainStream& lowest() { return beast::get_lowest_layer(stream_); }

  Stream stream_;
};

}  // namespace

std::unique_ptr<Transport> Transport::create(StreamSocket socket, asio::ssl::context* tls) {
  PlainStream plain(std::move(socket));
  if (tls == nullptr) {
    return std::make_unique<StreamTransport<PlainStream>>(std::move(plain));
  }
  return std::make_unique<StreamTransport<TlsStream>>(TlsStream(std::move(plain), *tls));
}

}  // namespace sibyl::server
