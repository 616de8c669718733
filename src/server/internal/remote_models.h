#pragma once

#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "answer/answer_service.h"
#include "encoder/remote_encoder.h"

namespace sibyl::server {

/// How often models that are served elsewhere are looked at.
struct RemoteWatch {
  int64_t look_ms = 5'000;         ///< while it answers
  int64_t look_absent_ms = 1'000;  ///< while it does not
  int64_t find_again_ms = 500;     ///< between looks that questions and documents cause
  /// Looks in a row, each over a connection of its own, that must agree before another version is
  /// believed: in a rolling update and beside a canary, two versions answer in turns.
  /// The first version after a start is believed when three quarters of as many looks saw it.
  int confirmations = 20;
  int64_t confirmation_pause_ms = 20;
};

/// The models of `--encoder`: which version each answers as, found out before it is first used and
/// watched by a thread of its own. Thread-safe.
class RemoteModels {
 public:
  /// InvalidArgument for an address that is wrong, or a name given twice. Nobody is asked yet.
  static Result<std::unique_ptr<RemoteModels>> open(const std::vector<std::string>& encoders,
                                                    const encoder::RemoteOptions& options,
                                                    const RemoteWatch& watch);
  ~RemoteModels() { stop(); }
  RemoteModels(const RemoteModels&) = delete;
  RemoteModels& operator=(const RemoteModels&) = delete;

  bool has(std::string_view name) const { return entry_of(name) != nullptr; }
  /// The name of the first `--encoder`.
  const std::string& first() const { return entries_.front()->model->address().name; }

  struct Served {
    std::shared_ptr<encoder::RemoteModel> model;
    encoder::EncoderInfo info;
    std::vector<float> sample;  ///< its vector of encoder::kSampleText
  };
  /// What `name` answers as; it must be there. With a version that it does not answer as:
  /// FailedPrecondition. Unavailable while it never answered.
  Result<Served> find(std::string_view name, std::string_view version);

  struct Listed {
    std::string name;
    std::string address;
    std::optional<encoder::EncoderInfo> info;  ///< none until it has answered
    bool answers = false;                      ///< at the last look
  };
  /// In the order of `--encoder`. Nobody is asked.
  std::vector<Listed> list() const;

  /// Looks at every model again and again and tells after each look what it is believed to answer
  /// as. Returns after the first look at each, so that a model that is there is used from the first
  /// request on.
  void start(std::function<void(const answer::ServedModel&)> tell);
  /// Ends looking and returns when nothing is being told any more.
  void stop();

 private:
  struct Entry {
    std::shared_ptr<encoder::RemoteModel> model;
    std::mutex looking;  ///< one look at a time
    mutable std::mutex mutex;
    std::optional<encoder::RemoteLook> served;  ///< guarded by `mutex`, as all below
    bool is_believed = false;                   ///< `served` was seen by many looks, and is told
    std::string before;
    Error trouble;  ///< why the last look failed
    int64_t next_find_us = 0;
    bool is_away = false;  ///< the last look failed, and the log says so
    bool is_mixed = false;
  };

  RemoteModels(const encoder::RemoteOptions& options, const RemoteWatch& watch)
      : watch_(watch), clock_(options.clock == nullptr ? base::system_clock() : *options.clock) {}
  Entry* entry_of(std::string_view name) const;
  /// One look and what follows from it, without `settle`; true when the model answered.
  bool look(Entry& entry);
  void note_away(Entry& entry, const Error& error) const;
  void note_served(Entry& entry, const encoder::RemoteLook& look, bool is_believed) const;
  /// After a start: takes the version that most of many looks see, and believes it if nearly all
  /// do. One look may have met a canary, or a pod that is about to go.
  void settle(Entry& entry);
  std::optional<encoder::RemoteLook> served_of(const Entry& entry) const;
  /// Whether many looks agree with `first`.
  bool confirm(Entry& entry, const encoder::RemoteLook& first);
  void watch_entry(Entry& entry, const std::stop_token& stop,
                   const std::function<void(const answer::ServedModel&)>& tell, std::latch& looked);

  const RemoteWatch watch_;
  const base::Clock& clock_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::stop_source stopping_;
  std::vector<std::jthread> threads_;
};

}  // namespace sibyl::server
