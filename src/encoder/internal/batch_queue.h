#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/error.h"
#include "encoder/encoder.h"

namespace sibyl::encoder {

/// Tokenised texts of one call (or a part of a long call) and where their vectors go. Filled by the
/// calling thread, then read by workers until `wait` returns.
class Window {
 public:
  std::vector<int32_t> ids;    ///< of all texts, one after the other
  std::vector<size_t> begins;  ///< where each text's ids begin; one more at the end
  std::vector<size_t> order;   ///< texts by length, longest first
  size_t prompt_tokens = 0;    ///< tokens at the start of each text that are the prompt's
  float* out = nullptr;        ///< [texts x dimension]

  size_t texts() const { return begins.empty() ? 0 : begins.size() - 1; }
  size_t length(size_t text) const { return begins[text + 1] - begins[text]; }
  void clear();

  void expect(size_t pieces);
  void piece_done(size_t pieces);
  void fail(Error error);
  /// Until no piece is waiting or running; the first failure, if there was one.
  std::optional<Error> wait();

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  size_t pending_ = 0;
  std::optional<Error> error_;
};

/// Texts order[begin, end) of a window: what is queued as one.
struct Piece {
  Window* window = nullptr;
  size_t begin = 0;
  size_t end = 0;
  size_t tokens = 0;
  size_t texts() const { return end - begin; }
};

/// Waiting pieces of two classes; questions are handed out first. Bounded by texts. Thread-safe.
class BatchQueue {
 public:
  BatchQueue(size_t texts_max, size_t batch_tokens);

  /// Waits for room. False when `stop` was requested first; the piece is then not queued.
  bool push(const Piece& piece, Urgency urgency, const std::stop_token& stop);
  /// Waits for work: one piece, and pieces of other callers that fit into one batch with it. Empty
  /// when the queue was closed.
  std::vector<Piece> take();
  /// The same for questions only and without waiting.
  std::vector<Piece> take_questions();
  /// Cheap enough to ask between layers.
  bool questions_wait() const { return questions_.load(std::memory_order_relaxed) > 0; }
  /// Takes back what waits of this window; returns the number of pieces.
  size_t withdraw(const Window& window);
  void close();

 private:
  using Waiting = std::deque<Piece>;
  std::vector<Piece> take_from(Waiting& waiting);
  Waiting& of(Urgency urgency) { return waiting_[urgency == Urgency::Question ? 0 : 1]; }

  const size_t texts_max_;
  const size_t batch_tokens_;
  std::mutex mutex_;
  std::condition_variable not_empty_;
  std::condition_variable_any not_full_;
  std::array<Waiting, 2> waiting_;
  std::atomic<size_t> questions_{0};
  size_t texts_ = 0;
  bool closed_ = false;
};

}  // namespace sibyl::encoder
