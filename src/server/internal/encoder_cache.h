#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "answer/answer_service.h"
#include "model/registry.h"

namespace sibyl::server {

/// The encoders of a registry's models, opened when they are first asked for and shared. At most
/// `open_max` are kept, the longest unused goes first; one that is in use lives on until its last
/// holder lets go. Thread-safe; opening one does not keep others waiting.
class EncoderCache final : public answer::EncoderSource {
 public:
  EncoderCache(model::Registry& registry, size_t open_max)
      : registry_(registry), open_max_(open_max) {}

  Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) override;
  std::map<std::string, std::string> pipelines(const std::string& reference) override;

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
  std::shared_ptr<Slot> slot_of(const std::string& path);
  void evict(const std::string& keep);

  model::Registry& registry_;
  const size_t open_max_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;  ///< by the model's path
  uint64_t uses_ = 0;
};

}  // namespace sibyl::server
