#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "answer/answer_service.h"
#include "model/registry.h"
#include "server/internal/model_samples.h"
#include "server/internal/remote_models.h"

namespace sibyl::server {

/// The encoders of a registry's models, opened when they are first asked for and shared. At most
/// `open_max` are kept, the longest unused goes first; one that is in use lives on until its last
/// holder lets go. Thread-safe; opening one does not keep others waiting.
/// With models that are served elsewhere, a bare name means what is served, and a copy of the same
/// name and version in the registry stands in while it is not, if it is the model by which vectors
/// of that name and version were made so far.
class EncoderCache final : public answer::EncoderSource {
 public:
  EncoderCache(model::Registry& registry, size_t open_max)
      : registry_(registry), open_max_(open_max) {}

  Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) override;
  std::map<std::string, std::string> pipelines(const std::string& reference) override;
  std::string served_name(const std::string& reference) override;

  /// Called once, before the first `find`. Without `remote` the samples tell which models are
  /// served elsewhere all the same: they cannot be asked.
  void serve_from(std::unique_ptr<RemoteModels> remote, std::unique_ptr<ModelSamples> samples);
  /// The models that are served elsewhere, where they are.
  std::vector<RemoteModels::Listed> served() const;
  /// The name of the default model; empty without one.
  std::string default_name() const;
  /// Tells what served models answer as, until `stop_following` has returned.
  void start_following(std::function<void(const answer::ServedModel&)> tell);
  void stop_following();

  /// Lets go of the encoders of a model that was removed.
  void forget(const std::string& path);
  size_t open_encoders() const;

 private:
  struct Slot {
    std::mutex opening;
    std::shared_ptr<encoder::Encoder> encoder;  ///< guarded by `opening`
    uint64_t last_use = 0;                      ///< guarded by the cache's mutex
    bool opened = false;                        ///< guarded by the cache's mutex
  };
  Result<std::shared_ptr<encoder::Encoder>> find_local(const std::string& reference);
  /// Of a version by which a model server made vectors, while nobody said where it is.
  Result<std::shared_ptr<encoder::Encoder>> find_unattended(const std::string& reference);
  Result<std::shared_ptr<encoder::Encoder>> find_remote(const std::string& name,
                                                        const std::string& version);
  /// The registry's model, if vectors of its name and version were made by it or by nobody yet.
  Result<std::shared_ptr<encoder::Encoder>> find_copy(const std::string& reference);
  /// Notes by what vectors of `reference` are made from now on; FailedPrecondition when those so
  /// far are the copy's, which is another model.
  Result<void> keep_served(const std::string& reference, const std::vector<float>& sample);
  std::string full_reference(const std::string& reference) const;
  /// Of the copy of a served model, so that passages are cut as the model itself would.
  std::shared_ptr<const text::Tokenizer> tokenizer_of(const model::ModelEntry& entry);
  std::shared_ptr<Slot> slot_of(const std::string& path);
  void evict(const std::string& keep);

  model::Registry& registry_;
  const size_t open_max_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;  ///< by the model's path
  uint64_t uses_ = 0;
  std::unique_ptr<RemoteModels> remote_;  ///< nullptr: every model is of the registry
  std::unique_ptr<ModelSamples> samples_;
  std::mutex copies_mutex_;
  /// Copies that were compared and are the model; by reference.
  std::map<std::string, std::weak_ptr<encoder::Encoder>> copies_;
  std::mutex tokenizers_mutex_;
  std::map<std::string, std::shared_ptr<const text::Tokenizer>> tokenizers_;  ///< by path
};

}  // namespace sibyl::server
