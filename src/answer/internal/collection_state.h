#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "answer/internal/settings.h"
#include "store/collection.h"
#include "text/analyzer.h"

namespace sibyl::answer::internal {

/// Where the background work on a collection stands. Guarded by its own mutex.
struct SwitchProgress {
  bool running = false;
  std::string target;  ///< model reference; empty: no model
  uint64_t done = 0;
  uint64_t total = 0;
  Result<void> outcome;  ///< of the last one that ended
  int64_t ended_us = 0;  ///< when, by the steady clock; 0: none has
};

/// A collection with what the answer room keeps beside it. Thread-safe.
class CollectionState {
 public:
  CollectionState(std::shared_ptr<store::Collection> rows,
                  std::shared_ptr<const text::Analyzer> analyzer)
      : rows_(std::move(rows)), analyzer_(std::move(analyzer)) {}
  /// Stops background work and waits for it.
  ~CollectionState() { stop_background(); }

  store::Collection& rows() const { return *rows_; }
  const text::Analyzer& analyzer() const { return *analyzer_; }
  Result<StoredSettings> settings() const { return settings_from_json(rows_->settings()); }

  /// Held while settings are read, changed and written back.
  std::mutex& settings_mutex() { return settings_mutex_; }
  /// Origins of documents that came since this was made: a switch writes the settings that were
  /// when it began, and these must then be put back. Guarded by `settings_mutex`.
  DocumentOrigins& recent_origins() { return recent_origins_; }

  SwitchProgress progress() const;
  void note_progress(uint64_t done, uint64_t total);
  /// Starts `work` in the background; FailedPrecondition while other work runs.
  Result<void> start_background(const std::string& target,
                                std::function<Result<void>(std::stop_token)> work);
  /// Waits for background work to end and returns how it ended.
  Result<void> wait_background();
  void stop_background();

 private:
  std::shared_ptr<store::Collection> rows_;
  std::shared_ptr<const text::Analyzer> analyzer_;
  std::mutex settings_mutex_;
  DocumentOrigins recent_origins_;

  mutable std::mutex progress_mutex_;
  std::condition_variable ended_;
  SwitchProgress progress_;
  std::jthread thread_;
};

}  // namespace sibyl::answer::internal
