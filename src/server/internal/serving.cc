#include "server/internal/serving.h"

#include <algorithm>
#include <utility>

namespace sibyl::server {
namespace {

constexpr size_t kLongThreads = 4;
constexpr size_t kLongQueueMax = 64;

size_t quick_threads(const ListenerOptions& options) {
  return options.threads > 0 ? options.threads : base::usable_cores() + 2;
}

}  // namespace

Serving::Serving(Application& application, const ListenerOptions& options)
    : application_(application),
      options_(options),
      connections_gauge_(
          base::metrics().gauge("sibyl_http_connections", "Open connections of the HTTP server")),
      received_bytes_(base::metrics().counter("sibyl_http_received_bytes_total",
                                              "Bytes of request bodies read from sockets")),
      sent_bytes_(base::metrics().counter("sibyl_http_sent_bytes_total",
                                          "Bytes of reply bodies written to sockets")),
      // A connection has one request at a time and calls over gRPC are counted, so this queue never
      // refuses one.
      quick_(quick_threads(options),
             std::max<size_t>(1, options.connections_max) + options.grpc_calls_max),
      long_(kLongThreads, kLongQueueMax),
      stream_threads_(std::max<size_t>(1, options.streams_max),
                      std::max<size_t>(1, options.streams_max)) {}

Result<void> Serving::submit(Lane lane, std::function<void()> work) {
  auto submitted = (lane == Lane::Long ? long_ : quick_).try_submit(std::move(work));
  if (!submitted) {
    return fail(Code::ResourceExhausted,
                "the server is busy: {} long requests already wait; try again in a moment",
                kLongQueueMax);
  }
  return {};
}

bool Serving::enter_grpc_call() {
  if (grpc_calls_.fetch_add(1) < options_.grpc_calls_max) {
    return true;
  }
  grpc_calls_.fetch_sub(1);
  return false;
}

void Serving::leave_grpc_call() {
  grpc_calls_.fetch_sub(1);
}

Result<void> Serving::submit_stream(std::function<void()> work) {
  if (streams_.fetch_add(1) < options_.streams_max) {
    auto submitted = stream_threads_.try_submit([this, run = std::move(work)] {
      run();
      streams_.fetch_sub(1);
    });
    if (submitted) {
      return {};
    }
  }
  streams_.fetch_sub(1);
  return fail(Code::ResourceExhausted, "{} event streams are open; no more are allowed",
              options_.streams_max);
}

bool Serving::enter_connection() {
  const std::lock_guard lock(mutex_);
  if (connections_ >= options_.connections_max) {
    return false;
  }
  ++connections_;
  connections_gauge_.add(1);  // several listeners of a process count in one gauge
  return true;
}

void Serving::leave_connection() {
  const std::lock_guard lock(mutex_);
  --connections_;
  connections_gauge_.add(-1);
  left_.notify_all();
}

bool Serving::wait_for_connections(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return left_.wait_for(lock, timeout, [this] { return connections_ == 0; });
}

bool Serving::take_body_bytes(uint64_t bytes) {
  const uint64_t before = body_bytes_.fetch_add(bytes);
  if (before + bytes <= options_.bodies_bytes_max) {
    return true;
  }
  body_bytes_.fetch_sub(bytes);
  return false;
}

void Serving::give_body_bytes(uint64_t bytes) {
  body_bytes_.fetch_sub(bytes);
}

void Serving::drain() {
  draining_ = true;
  stream_stop_.request_stop();
}

void Serving::count_bytes(uint64_t received, uint64_t sent) {
  received_bytes_.add(static_cast<double>(received));
  sent_bytes_.add(static_cast<double>(sent));
}

}  // namespace sibyl::server
