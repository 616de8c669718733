#include "store/internal/operations.h"

namespace sibyl::store {

std::unique_ptr<Operations::Running> Operations::begin(std::string name,
                                                       const std::stop_token& stop,
                                                       Progress progress) {
  {
    const std::lock_guard lock(mutex_);
    ++waiting_;
    if (running_ && running_->background) {
      stop_.request_stop();
    }
  }
  std::unique_lock turn(turn_);
  {
    const std::lock_guard lock(mutex_);
    --waiting_;
  }
  return std::make_unique<Running>(*this, std::move(turn),
                                   OperationProgress{std::move(name), 0, 0, false}, stop,
                                   std::move(progress));
}

std::unique_ptr<Operations::Running> Operations::try_begin(const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ > 0) {
      return nullptr;
    }
  }
  std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn.owns_lock()) {
    return nullptr;
  }
  return std::make_unique<Running>(*this, std::move(turn), OperationProgress{{}, 0, 0, true}, stop,
                                   Progress());
}

std::optional<OperationProgress> Operations::running() const {
  const std::lock_guard lock(mutex_);
  return running_ && !running_->name.empty() ? running_ : std::nullopt;
}

bool Operations::cancel() {
  const std::lock_guard lock(mutex_);
  return running_ && !running_->name.empty() && stop_.request_stop();
}

Operations::Running::Running(Operations& owner, std::unique_lock<std::mutex> turn,
                             OperationProgress about, const std::stop_token& stop,
                             Progress progress)
    : owner_(owner),
      turn_(std::move(turn)),
      stop_(source_.get_token()),
      callers_(stop, [this] { source_.request_stop(); }),
      progress_(std::move(progress)) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.running_ = std::move(about);
  owner_.stop_ = source_;
  // One that came meanwhile goes before the background.
  if (owner_.running_->background && owner_.waiting_ > 0) {
    source_.request_stop();
  }
}

Operations::Running::~Running() {
  const std::lock_guard lock(owner_.mutex_);
  owner_.running_.reset();
  owner_.stop_ = std::stop_source(std::nostopstate);
}

void Operations::Running::report(uint64_t done, uint64_t total) {
  {
    const std::lock_guard lock(owner_.mutex_);
    owner_.running_->done = done;
    owner_.running_->total = total;
  }
  if (progress_) {
    progress_(done, total);
  }
}

void Operations::Running::rename(std::string name) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.running_->name = std::move(name);
}

}  // namespace sibyl::store
