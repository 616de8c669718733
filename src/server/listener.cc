#include "server/listener.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <unistd.h>

#include "base/log.h"
#include "server/internal/acceptor.h"
#include "server/internal/grpc_server.h"
#include "server/internal/reply_head.h"
#include "server/internal/session.h"

namespace sibyl::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using LocalProtocol = asio::local::stream_protocol;
using std::chrono::milliseconds;

constexpr size_t kIoThreadsMax = 4;
constexpr milliseconds kAcceptPause{100};
constexpr milliseconds kStopPatience{5000};

/// What a connection over the limit gets, whatever it asks.
std::string full_reply() {
  const Response response =
      problem(Error{Code::Unavailable, "too many connections are open; try again in a moment", {}});
  return reply_head(response, ReplyForm{}) + response.body;
}

/// One event loop on one thread, with the connections that were given to it.
struct IoThread {
  SessionSet sessions;  // outlives the context, whose connections take themselves out
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
  std::thread thread;
};

class SocketListener final : public Listener {
 public:
  SocketListener(Application& application, const ListenerOptions& options)
      : application_(application), serving_(std::make_unique<Serving>(application, options)) {
    const size_t threads = std::clamp<size_t>(base::usable_cores() / 4, 1, kIoThreadsMax);
    for (size_t i = 0; i < threads; ++i) {
      threads_.push_back(std::make_unique<IoThread>());
    }
  }
  ~SocketListener() override { stop(); }

  Result<void> open() {
    const ListenerOptions& options = serving_->options();
    if (!options.tls_certificate_file.empty() || !options.tls_key_file.empty()) {
      auto tls = make_tls(options.tls_certificate_file, options.tls_key_file);
      if (!tls) {
        return pass_on(tls);
      }
      tls_ = std::move(*tls);
    }
    asio::io_context& context = threads_.front()->context;
    if (!options.http.empty()) {
      auto acceptor = listen_tcp(context, options.http, application_.loopback_only());
      if (!acceptor) {
        return pass_on(acceptor);
      }
      tcp_.emplace(std::move(*acceptor));
      http_address_ = address_of(*tcp_);
    }
    if (!options.unix_socket.empty()) {
      auto acceptor = listen_unix(context, options.unix_socket);
      if (!acceptor) {
        return pass_on(acceptor);
      }
      unix_.emplace(std::move(*acceptor));
      unix_path_ = options.unix_socket;
    }
    if (ModelService* const models = application_.model_service();
        models != nullptr && !options.grpc.empty()) {
      auto grpc = GrpcServer::start(*models, *serving_, application_.loopback_only());
      if (!grpc) {
        return pass_on(grpc);
      }
      grpc_ = std::move(*grpc);
    }
    return begin();
  }

  std::string http_address() const override { return http_address_; }
  std::string grpc_address() const override {
    return grpc_ == nullptr ? std::string() : grpc_->address();
  }

  void stop() override {
    if (stopped_.exchange(true)) {
      return;
    }
    serving_->drain();
    close_acceptors();
    each_session([](SessionControl& session) { session.close_if_idle(); });
    std::future<void> calls = stop_grpc();
    if (!serving_->wait_for_connections(milliseconds(serving_->options().drain_timeout_ms))) {
      base::log_warning("server", "requests still run after {} ms: they are asked to stop",
                        serving_->options().drain_timeout_ms);
      serving_->stop_handlers();
      if (!serving_->wait_for_connections(kStopPatience)) {
        each_session([](SessionControl& session) { session.close_now(); });
      }
      while (!serving_->wait_for_connections(kStopPatience)) {
        base::log_warning("server", "a request does not end; waiting for it");
      }
    }
    end_calls(calls);
    serving_.reset();  // joins the workers, whose last words still need the event loops
    for (const auto& io : threads_) {
      io->guard.reset();
      io->context.stop();
      if (io->thread.joinable()) {
        io->thread.join();
      }
    }
  }

 private:
  /// Lets running calls over gRPC end beside the requests over HTTP.
  std::future<void> stop_grpc() {
    if (grpc_ == nullptr) {
      return {};
    }
    return std::async(std::launch::async,
                      [this] { grpc_->stop(serving_->options().drain_timeout_ms); });
  }

  void end_calls(std::future<void>& calls) {
    if (!calls.valid()) {
      return;
    }
    const milliseconds patience(serving_->options().drain_timeout_ms);
    if (calls.wait_for(patience) != std::future_status::ready) {
      serving_->stop_handlers();
    }
    calls.wait();
    grpc_.reset();
  }

  Result<void> begin() {
    if (unix_) {
      if (auto announced = application_.announce_socket(unix_path_); !announced) {
        return pass_on(announced);
      }
      accept_on(*unix_, Peer::UnixSocket, nullptr);
      base::log_info("server", "listening at unix:{}", unix_path_);
    }
    if (tcp_) {
      accept_on(*tcp_, Peer::Tcp, tls_.get());
      base::log_info("server", "listening at {}://{}", tls_ ? "https" : "http", http_address_);
    }
    if (grpc_ != nullptr) {
      base::log_info("server", "listening at grpc://{}", grpc_->address());
    } else if (const std::string& grpc = serving_->options().grpc; !grpc.empty()) {
      base::log_info("server", "the Milvus wire is not built yet: nothing listens at {}", grpc);
    }
    for (const auto& io : threads_) {
      io->thread = std::thread([context = &io->context] { context->run(); });
    }
    return {};
  }

  template <class Acceptor>
  void accept_on(Acceptor& acceptor, Peer peer, asio::ssl::context* tls) {
    asio::co_spawn(threads_.front()->context, accept_loop(acceptor, peer, tls), asio::detached);
  }

  template <class Acceptor>
  asio::awaitable<void> accept_loop(Acceptor& acceptor, Peer peer, asio::ssl::context* tls) {
    while (acceptor.is_open()) {
      IoThread& io = *threads_[next_++ % threads_.size()];
      auto [error, socket] =
          co_await acceptor.async_accept(io.context, asio::as_tuple(asio::use_awaitable));
      if (error == asio::error::operation_aborted || serving_->draining()) {
        co_return;
      }
      if (error) {  // out of file descriptors, or a peer that was gone at once
        base::log_warning("server", "a connection cannot be taken: {}", error.message());
        asio::steady_timer pause(threads_.front()->context, kAcceptPause);
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      take(std::move(socket), peer, tls, io);
    }
  }

  template <class Socket>
  void take(Socket socket, Peer peer, asio::ssl::context* tls, IoThread& io) {
    boost::system::error_code ignored;  // neither call is needed for a right answer
    if constexpr (std::is_same_v<Socket, tcp::socket>) {
      socket.set_option(tcp::no_delay(true), ignored);
    }
    if (!serving_->enter_connection()) {
      if (tls == nullptr) {
        socket.non_blocking(true, ignored);
        socket.write_some(asio::buffer(full_reply_), ignored);
      }
      return;
    }
    asio::post(io.context, [this, tls, peer, &io,
                            moved = std::make_shared<StreamSocket>(std::move(socket))] {
      start_session(Transport::create(std::move(*moved), tls), peer, *serving_, io.sessions);
    });
  }

  void close_acceptors() {
    if (!threads_.front()->thread.joinable()) {
      close_unix();  // `open` failed: nothing runs yet
      return;
    }
    std::promise<void> closed;
    asio::post(threads_.front()->context, [this, &closed] {
      boost::system::error_code ignored;
      if (tcp_) {
        tcp_->close(ignored);
      }
      close_unix();
      closed.set_value();
    });
    closed.get_future().wait();
  }

  void close_unix() {
    if (!unix_) {
      return;
    }
    boost::system::error_code ignored;
    unix_->close(ignored);
    unlink(unix_path_.c_str());
    if (const auto silenced = application_.announce_socket({}); !silenced) {
      base::log_warning("server", "{}", silenced.error().message);
    }
  }

  template <class Action>
  void each_session(Action action) {
    for (const auto& io : threads_) {
      asio::post(io->context, [&sessions = io->sessions, action] {
        for (SessionControl* session : sessions) {
          action(*session);
        }
      });
    }
  }

  Application& application_;
  std::unique_ptr<asio::ssl::context> tls_;
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::optional<tcp::acceptor> tcp_;
  std::optional<LocalProtocol::acceptor> unix_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<GrpcServer> grpc_;
  const std::string full_reply_ = full_reply();
  std::string http_address_;
  std::string unix_path_;
  size_t next_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Listener>> Listener::start(Application& application,
                                                  const ListenerOptions& options) {
  auto listener = std::make_unique<SocketListener>(application, options);
  if (auto opened = listener->open(); !opened) {
    return pass_on(opened);
  }
  return listener;
}

}  // namespace sibyl::server
