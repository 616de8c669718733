#include "server/internal/session.h"

#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "server/internal/protocol_errors.h"
#include "server/internal/replies.h"
#include "server/internal/reply_head.h"
#include "server/internal/request_id.h"
#include "server/internal/request_reader.h"
#include "server/internal/stream_pipe.h"

namespace sibyl::server {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using State = RequestReader::State;

constexpr size_t kReadBytes = 16384;
/// A peer that is slower than this for a large body or reply is given up.
constexpr int64_t kBytesPerMsMin = 64;
constexpr int64_t kWriteTimeoutMs = 30'000;
/// How long the rest of a refused request is read away, so that the peer can read the refusal.
constexpr milliseconds kLinger{2000};

// g++ 12 destroys temporaries of a co_await expression twice when they are built from braces: what
// is passed to a coroutine here has a name, or nothing to destroy.
class Session final : public SessionControl {
 public:
  Session(std::unique_ptr<Transport> transport, Peer peer, Serving& serving, SessionSet& sessions)
      : transport_(std::move(transport)), peer_(peer), serving_(serving), sessions_(sessions) {
    sessions_.insert(this);
  }
  ~Session() override {
    sessions_.erase(this);
    serving_.leave_connection();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void close_if_idle() override {
    if (idle_) {
      transport_->cancel();
    }
  }
  void close_now() override { transport_->close(); }

  asio::awaitable<void> run() {
    milliseconds patience(serving_.options().header_timeout_ms);
    transport_->expires_after(patience);
    bool goes_on = co_await transport_->handshake();
    while (goes_on) {
      goes_on = co_await wait_for_request(patience);
      if (goes_on) {
        goes_on = co_await serve_request();
      }
      patience = milliseconds(serving_.options().idle_timeout_ms);
    }
    co_await close();
  }

 private:
  /// Waits for the first byte of a request; false when the connection is over.
  asio::awaitable<bool> wait_for_request(milliseconds patience) {
    if (!input_.empty()) {
      co_return true;
    }
    if (serving_.draining()) {
      co_return false;
    }
    idle_ = true;
    transport_->expires_after(patience);
    const bool read = co_await read_more();
    idle_ = false;
    co_return read;
  }

  asio::awaitable<bool> read_more() {
    const size_t bytes = co_await transport_->read_some(scratch_);
    input_.append(scratch_.data(), bytes);
    co_return bytes > 0;
  }

  /// Feeds the reader until it leaves `state`; false when the peer is gone before that.
  asio::awaitable<bool> read_while(RequestReader& reader, State state, BodyLease& lease) {
    while (reader.state() == state) {
      const size_t used = reader.feed(input_);
      input_.erase(0, used);
      if (reader.state() != state || (used > 0 && !input_.empty())) {
        continue;
      }
      if (!lease.grow_to(reader.body_bytes())) {
        co_return true;  // the caller looks at the lease
      }
      const bool read = co_await read_more();
      if (!read) {
        co_return false;
      }
    }
    co_return true;
  }

  /// One request and its reply; false when the connection must end.
  asio::awaitable<bool> serve_request() {
    const ListenerOptions& options = serving_.options();
    const auto reader = RequestReader::create({options.header_bytes_max, options.body_bytes_max});
    BodyLease lease(serving_);
    transport_->expires_after(milliseconds(options.header_timeout_ms));
    bool there = co_await read_while(*reader, State::Head, lease);
    if (there && reader->state() == State::Body) {
      if (!lease.grow_to(reader->content_length().value_or(0))) {
        const Response refused = memory_refusal(reader->head());
        co_return co_await refuse(refused);
      }
      there = co_await read_body(*reader, lease);
    }
    if (!there) {
      co_return false;
    }
    if (reader->state() != State::Done) {
      const Request& head = reader->head();
      const Response refused =
          reader->state() == State::Refused
              ? refusal(reader->refusal().status, head, reader->refusal().error)
              : memory_refusal(head);
      co_return co_await refuse(refused);
    }
    ReplyForm form{reader->version(), reader->head().method == "HEAD", reader->keep_alive(), false};
    Request request = reader->take();
    request.peer = peer_;
    const uint64_t received = request.body.size();
    Response response = co_await respond(request);
    form.keep_alive = form.keep_alive && !serving_.draining();
    serving_.count_bytes(received, response.body.size());
    if (response.stream) {
      co_return co_await write_stream(std::move(response), form);
    }
    co_return co_await write(response, form);
  }

  asio::awaitable<bool> read_body(RequestReader& reader, BodyLease& lease) {
    const auto length = static_cast<int64_t>(reader.content_length().value_or(0));
    transport_->expires_after(
        milliseconds(serving_.options().body_timeout_ms + length / kBytesPerMsMin));
    if (reader.expects_continue() && input_.empty()) {
      const bool sent = co_await transport_->write("HTTP/1.1 100 Continue\r\n\r\n", {});
      if (!sent) {
        co_return false;
      }
    }
    co_return co_await read_while(reader, State::Body, lease);
  }

  /// The application's reply, made on a worker of the request's lane.
  asio::awaitable<Response> respond(const Request& request) {
    if (serving_.draining()) {
      Response refused = draining_refusal(request);
      co_return refused;
    }
    Application& application = serving_.application();
    const Lane lane = application.lane(request);
    if (lane == Lane::Immediate) {
      Response response = application.handle(request, serving_.stop_token());
      co_return response;
    }
    auto initiate = [this, lane, &request](auto handler) {
      const auto shared = std::make_shared<decltype(handler)>(std::move(handler));
      const auto resume = [shared, executor = transport_->executor()](Response made) {
        asio::post(executor, [shared, made = std::make_shared<Response>(std::move(made))] {
          (*shared)(std::move(*made));
        });
      };
      const auto submitted = serving_.submit(lane, [this, resume, &request] {
        resume(serving_.application().handle(request, serving_.stop_token()));
      });
      if (!submitted) {
        resume(refusal(429, request, submitted.error()));
      }
    };
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(Response)>(
        initiate, asio::use_awaitable);
  }

  asio::awaitable<bool> write(const Response& response, const ReplyForm& form) {
    const std::string head = reply_head(response, form);
    const bool headers_only = form.head_only || has_no_body(response.status);
    const std::string_view body = headers_only ? std::string_view() : response.body;
    transport_->expires_after(
        milliseconds(kWriteTimeoutMs + static_cast<int64_t>(body.size()) / kBytesPerMsMin));
    const bool sent = co_await transport_->write(head, body);
    if (!sent) {
      co_return false;
    }
    co_return form.keep_alive;
  }

  asio::awaitable<bool> write_head(const Response& response, const ReplyForm& form) {
    const std::string head = reply_head(response, form);
    transport_->expires_after(milliseconds(kWriteTimeoutMs));
    co_return co_await transport_->write(head, {});
  }

  /// Sends what the stream's own thread gives, piece by piece; the connection ends with it.
  asio::awaitable<bool> write_stream(Response response, ReplyForm form) {
    form.keep_alive = false;
    form.chunked = form.version >= 11;  // before that the end of the connection ends the body
    if (form.head_only) {
      co_await write_head(response, form);
      co_return false;
    }
    const auto timer = std::make_shared<asio::steady_timer>(transport_->executor());
    const auto pipe = std::make_shared<StreamPipe>(
        [timer] { asio::post(timer->get_executor(), [timer] { timer->cancel(); }); });
    std::stop_source gone;
    const auto started = serving_.submit_stream([pipe, gone, produce = response.stream] {
      produce([pipe](std::string_view piece) { return pipe->put(piece); }, gone.get_token());
      pipe->end();
    });
    if (!started) {
      Request head;
      head.id = request_id(response);
      const Response refused = refusal(429, head, started.error());
      co_return co_await refuse(refused);
    }
    const std::stop_callback forward(serving_.stream_stop_token(),
                                     [gone]() mutable { gone.request_stop(); });
    const bool sent = co_await write_head(response, form);
    if (sent) {
      co_await pump(*pipe, *timer, form.chunked);
    }
    pipe->abandon();
    gone.request_stop();
    co_return false;
  }

  asio::awaitable<void> pump(StreamPipe& pipe, asio::steady_timer& timer, bool chunked) {
    while (!pipe.ended()) {
      const std::optional<std::string> piece = pipe.take();
      if (!piece) {
        timer.expires_at(asio::steady_timer::time_point::max());
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      const std::string framed =
          chunked ? fmt::format("{:x}\r\n{}\r\n", piece->size(), *piece) : *piece;
      transport_->expires_after(milliseconds(kWriteTimeoutMs));
      const bool sent = co_await transport_->write(framed, {});
      if (!sent) {
        co_return;
      }
      serving_.count_bytes(0, piece->size());
    }
    if (chunked) {
      co_await transport_->write("0\r\n\r\n", {});
    }
  }

  static std::string request_id(const Response& response) {
    const auto found = response.headers.find("X-Request-Id");
    return found == response.headers.end() ? std::string() : found->second;
  }

  /// In the form of the protocol that the request's path belongs to, as far as it was read.
  static Response refusal(int status, const Request& head, const Error& error) {
    Response response = error_response(head.path, status, error);
    response.headers["X-Request-Id"] = head.id.empty() ? make_request_id() : head.id;
    base::metrics()
        .counter("sibyl_http_refused_total", "Requests refused before they reached a handler",
                 {{"status", std::to_string(status)}})
        .add();
    base::log_info("server", "refused with {}: {} id={}", status, error.message,
                   response.headers["X-Request-Id"]);
    return response;
  }

  static Response draining_refusal(const Request& head) {
    return refusal(503, head, {Code::Unavailable, "the server is shutting down", {}});
  }
  Response memory_refusal(const Request& head) const {
    return refusal(429, head,
                   {Code::ResourceExhausted,
                    fmt::format("the bodies of all running requests together would be larger than "
                                "{} bytes (bodies_bytes_max); try again in a moment",
                                serving_.options().bodies_bytes_max),
                    {}});
  }

  /// Sends a refusal; the connection ends, because the rest of the request was not read.
  asio::awaitable<bool> refuse(const Response& response) {
    linger_ = true;
    co_await write(response, ReplyForm{});
    co_return false;
  }

  asio::awaitable<void> close() {
    transport_->expires_after(kLinger);
    co_await transport_->shutdown();
    size_t bytes = linger_ ? 1 : 0;
    while (bytes > 0) {
      bytes = co_await transport_->read_some(scratch_);
    }
    transport_->close();
  }

  std::unique_ptr<Transport> transport_;
  const Peer peer_;
  Serving& serving_;
  SessionSet& sessions_;
  std::vector<char> scratch_ = std::vector<char>(kReadBytes);
  std::string input_;  ///< read and not used yet
  bool idle_ = false;
  bool linger_ = false;
};

}  // namespace

void start_session(std::unique_ptr<Transport> transport, Peer peer, Serving& serving,
                   SessionSet& sessions) {
  const auto executor = transport->executor();
  auto session = std::make_unique<Session>(std::move(transport), peer, serving, sessions);
  asio::co_spawn(
      executor,
      [](std::unique_ptr<Session> self) -> asio::awaitable<void> {
        co_await self->run();
      }(std::move(session)),
      asio::detached);
}

}  // namespace sibyl::server
