#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "server/application.h"

namespace sibyl::server {

/// An application whose requests do what their path says, so that a test decides when they end.
class DoubleApplication : public Application {
 public:
  Response handle(const Request& request, std::stop_token stop) override {
    ++handled;
    Response response = json_response(200, request.method + " " + request.path);
    response.headers["X-Request-Id"] = request.id;
    if (request.path == "/echo") {
      response.body = request.body;
    } else if (request.path == "/peer") {
      response.body = request.peer == Peer::UnixSocket ? "unix" : "tcp";
    } else if (request.path == "/long" || request.path == "/quick") {
      wait(stop);
    } else if (request.path == "/stream") {
      response.content_type = "text/event-stream";
      response.stream = [this](const StreamSink& sink, std::stop_token gone) { send(sink, gone); };
    }
    return response;
  }
  Lane lane(const Request& request) const override {
    if (request.path == "/health/live") {
      return Lane::Immediate;
    }
    return request.path == "/long" ? Lane::Long : Lane::Quick;
  }
  bool requires_keys() const override { return keys; }
  Result<void> announce_socket(const std::string& path) override {
    announced = path;
    return {};
  }
  void drain() override {}

  /// Lets every waiting request end.
  void release() {
    {
      const std::lock_guard lock(mutex_);
      released_ = true;
    }
    changed_.notify_all();
  }
  /// Returns once `count` requests wait.
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, count] { return waiting_ >= count; });
  }

  bool keys = false;
  std::string announced;
  std::atomic<int> handled = 0;
  std::atomic<bool> stream_ended = false;

 private:
  void wait(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    const std::stop_callback wake(stop, [this] { changed_.notify_all(); });
    changed_.wait(lock, [&] { return released_ || stop.stop_requested(); });
    --waiting_;
  }
  void send(const StreamSink& sink, std::stop_token gone) {
    for (int i = 0; !gone.stop_requested() && sink("data: " + std::to_string(i) + "\n\n"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stream_ended = true;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool released_ = false;
  int waiting_ = 0;
};

}  // namespace sibyl::server
