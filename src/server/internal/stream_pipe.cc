#include "server/internal/stream_pipe.h"

#include <utility>

namespace sibyl::server {

bool StreamPipe::put(std::string_view piece) {
  if (piece.empty()) {  // an empty chunk would end a chunked body
    const std::lock_guard lock(mutex_);
    return !abandoned_;
  }
  {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return abandoned_ || !piece_; });
    if (abandoned_) {
      return false;
    }
    piece_ = std::string(piece);
  }
  wake_();
  return true;
}

void StreamPipe::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_();
}

std::optional<std::string> StreamPipe::take() {
  std::optional<std::string> piece;
  {
    const std::lock_guard lock(mutex_);
    piece = std::exchange(piece_, std::nullopt);
  }
  taken_.notify_one();
  return piece;
}

bool StreamPipe::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_ && !piece_;
}

void StreamPipe::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  taken_.notify_all();
}

}  // namespace sibyl::server
