#include "encoder/internal/batch_queue.h"

#include <algorithm>
#include <utility>

namespace sibyl::encoder {

void Window::clear() {
  ids.clear();
  begins.clear();
  order.clear();
}

void Window::expect(size_t pieces) {
  const std::lock_guard lock(mutex_);
  pending_ += pieces;
}

void Window::piece_done(size_t pieces) {
  const std::lock_guard lock(mutex_);
  pending_ -= pieces;
  if (pending_ == 0) {
    // Under the lock: the waiter may destroy the window as soon as it can see zero.
    done_.notify_all();
  }
}

void Window::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) {
    error_ = std::move(error);
  }
}

std::optional<Error> Window::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return pending_ == 0; });
  return std::exchange(error_, std::nullopt);
}

BatchQueue::BatchQueue(size_t texts_max, size_t batch_tokens)
    : texts_max_(texts_max), batch_tokens_(batch_tokens) {}

bool BatchQueue::push(const Piece& piece, Urgency urgency, const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex_);
    // A piece that is larger than the limit goes in alone.
    const bool room = not_full_.wait(
        lock, stop, [&] { return texts_ == 0 || texts_ + piece.texts() <= texts_max_; });
    // Asked under the lock: whoever withdraws after a stop then finds every piece that went in.
    if (!room || stop.stop_requested()) {
      return false;
    }
    of(urgency).push_back(piece);
    texts_ += piece.texts();
    questions_.store(of(Urgency::Question).size(), std::memory_order_relaxed);
  }
  not_empty_.notify_one();
  return true;
}

std::vector<Piece> BatchQueue::take_from(Waiting& waiting) {
  std::vector<Piece> out;
  size_t tokens = 0;
  while (!waiting.empty()) {
    const Piece& next = waiting.front();
    // The pieces of one caller were cut for several workers; joining them would undo that.
    const bool same_caller = std::any_of(
        out.begin(), out.end(), [&](const Piece& taken) { return taken.window == next.window; });
    if (!out.empty() && (same_caller || tokens + next.tokens > batch_tokens_)) {
      break;
    }
    tokens += next.tokens;
    texts_ -= next.texts();
    out.push_back(next);
    waiting.pop_front();
  }
  questions_.store(of(Urgency::Question).size(), std::memory_order_relaxed);
  return out;
}

std::vector<Piece> BatchQueue::take() {
  std::vector<Piece> out;
  {
    std::unique_lock lock(mutex_);
    Waiting& questions = of(Urgency::Question);
    Waiting& documents = of(Urgency::Document);
    not_empty_.wait(lock, [&] { return closed_ || !questions.empty() || !documents.empty(); });
    out = take_from(questions.empty() ? documents : questions);
  }
  not_full_.notify_all();
  return out;
}

std::vector<Piece> BatchQueue::take_questions() {
  std::vector<Piece> out;
  {
    const std::lock_guard lock(mutex_);
    out = take_from(of(Urgency::Question));
  }
  not_full_.notify_all();
  return out;
}

size_t BatchQueue::withdraw(const Window& window) {
  size_t pieces = 0;
  {
    const std::lock_guard lock(mutex_);
    for (Waiting& waiting : waiting_) {
      std::erase_if(waiting, [&](const Piece& piece) {
        if (piece.window != &window) {
          return false;
        }
        ++pieces;
        texts_ -= piece.texts();
        return true;
      });
    }
    questions_.store(of(Urgency::Question).size(), std::memory_order_relaxed);
  }
  not_full_.notify_all();
  return pieces;
}

void BatchQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  not_empty_.notify_all();
}

}  // namespace sibyl::encoder
