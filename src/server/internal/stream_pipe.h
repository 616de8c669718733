#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace sibyl::server {

/// Between a stream's own thread, which may wait, and its connection, which may not: holds at most
/// one piece. Thread-safe.
class StreamPipe {
 public:
  /// `wake` is called from the producer's thread when `take` or `ended` changed.
  explicit StreamPipe(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// Producer: waits until the piece before is taken; false when the client is gone.
  bool put(std::string_view piece);
  /// Producer: nothing comes after this.
  void end();

  /// Consumer: the waiting piece, if there is one.
  std::optional<std::string> take();
  /// Consumer: true when the producer ended and everything was taken.
  bool ended() const;
  /// Consumer: the client is gone; `put` fails from now on.
  void abandon();

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable taken_;
  std::optional<std::string> piece_;
  bool ended_ = false;
  bool abandoned_ = false;
};

}  // namespace sibyl::server
