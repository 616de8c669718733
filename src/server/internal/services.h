#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "job/runner.h"
#include "model/registry.h"
#include "server/application.h"
#include "server/internal/encoder_cache.h"
#include "server/internal/feedback_log.h"
#include "server/internal/served_models.h"
#include "server/internal/uploads.h"
#include "store/database.h"

namespace sibyl::server {

/// What the handlers work on. Every part is thread-safe. A model server has `served` alone, the
/// owner of a data directory all the others.
struct Services {
  ApplicationOptions options;
  std::string directory;     ///< absolute
  std::string directory_id;  ///< of DIR/id, the same for ever
  int64_t started_us = 0;    ///< steady clock
  std::atomic<bool> draining = false;

  std::unique_ptr<store::Database> database;
  std::unique_ptr<model::Registry> registry;
  std::unique_ptr<EncoderCache> encoders;
  std::unique_ptr<answer::AnswerService> answers;
  std::unique_ptr<Uploads> uploads;
  std::unique_ptr<FeedbackLog> feedback;
  std::unique_ptr<ServedModels> served;

  /// The models that requests name.
  answer::EncoderSource& models() const {
    return served == nullptr ? static_cast<answer::EncoderSource&>(*encoders) : *served;
  }
  /// The runner while there is one; Unavailable once the server drains.
  Result<std::shared_ptr<job::JobRunner>> jobs();
  void set_jobs(std::shared_ptr<job::JobRunner> runner);
  /// Takes the runner away and returns when it has ended its step.
  void end_jobs();

 private:
  std::mutex jobs_mutex_;
  std::shared_ptr<job::JobRunner> jobs_;
};

/// One request on its way to its handler.
struct Call {
  const Request& request;
  const std::vector<std::string>& captures;  ///< of the route's pattern, decoded
  std::stop_token stop;

  /// Peers that may name files of this machine.
  bool local() const { return request.peer != Peer::Tcp; }
  /// A query parameter; empty when missing.
  std::string parameter(const std::string& name) const;
  /// "true"/"false" (or "1"/"0"); InvalidArgument for anything else.
  Result<bool> flag(const std::string& name, bool otherwise) const;
  Result<uint64_t> count(const std::string& name, uint64_t otherwise, uint64_t lowest,
                         uint64_t highest) const;
};

}  // namespace sibyl::server
