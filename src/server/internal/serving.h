#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/metrics.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "server/application.h"
#include "server/listener.h"

namespace sibyl::server {

/// What the connections of a listener share: workers, limits, counts. Thread-safe.
class Serving {
 public:
  Serving(Application& application, const ListenerOptions& options);

  Application& application() { return application_; }
  const ListenerOptions& options() const { return options_; }

  /// Runs `work` on the lane's workers. ResourceExhausted when too many requests wait there.
  Result<void> submit(Lane lane, std::function<void()> work);
  /// Runs a stream on a thread of its own; ResourceExhausted when all are taken.
  Result<void> submit_stream(std::function<void()> work);

  /// Counts a connection; false at the limit.
  bool enter_connection();
  void leave_connection();
  /// True when no connection is left before `timeout`.
  bool wait_for_connections(std::chrono::milliseconds timeout);

  /// Counts a call over gRPC that waits or runs; false at the limit.
  bool enter_grpc_call();
  void leave_grpc_call();

  /// Takes `bytes` from the memory that bodies may hold together; false when it is used up.
  bool take_body_bytes(uint64_t bytes);
  void give_body_bytes(uint64_t bytes);

  bool draining() const { return draining_; }
  void drain();
  /// Asked of every running handler when draining took too long.
  std::stop_token stop_token() const { return stop_.get_token(); }
  void stop_handlers() { stop_.request_stop(); }
  /// Asked of streams, which never end by themselves, as soon as draining begins.
  std::stop_token stream_stop_token() const { return stream_stop_.get_token(); }

  void count_bytes(uint64_t received, uint64_t sent);

 private:
  Application& application_;
  const ListenerOptions options_;
  std::stop_source stop_;
  std::stop_source stream_stop_;
  std::atomic<bool> draining_ = false;
  std::atomic<uint64_t> body_bytes_ = 0;
  std::atomic<size_t> streams_ = 0;
  std::atomic<size_t> grpc_calls_ = 0;
  std::mutex mutex_;
  std::condition_variable left_;
  size_t connections_ = 0;
  base::Gauge& connections_gauge_;
  base::Counter& received_bytes_;
  base::Counter& sent_bytes_;
  base::ThreadPool quick_;
  base::ThreadPool long_;
  base::ThreadPool stream_threads_;
};

/// Body bytes taken from a Serving's budget, given back at the end.
class BodyLease {
 public:
  explicit BodyLease(Serving& serving) : serving_(serving) {}
  ~BodyLease() { serving_.give_body_bytes(bytes_); }
  BodyLease(const BodyLease&) = delete;
  BodyLease& operator=(const BodyLease&) = delete;
  /// Makes the lease cover `bytes` in all; false when there is no memory for that.
  bool grow_to(uint64_t bytes) {
    if (bytes <= bytes_) {
      return true;
    }
    if (!serving_.take_body_bytes(bytes - bytes_)) {
      return false;
    }
    bytes_ = bytes;
    return true;
  }

 private:
  Serving& serving_;
  uint64_t bytes_ = 0;
};

}  // namespace sibyl::server
