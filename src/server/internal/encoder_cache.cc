#include "server/internal/encoder_cache.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "encoder/cpu_encoder.h"
#include "server/internal/metered_encoder.h"

namespace sibyl::server {

Result<std::shared_ptr<encoder::Encoder>> EncoderCache::find(const std::string& reference) {
  if (remote_ != nullptr) {
    const std::string full = full_reference(reference);
    const size_t at = std::min(full.find('@'), full.size());
    if (remote_->has(full.substr(0, at))) {
      return find_remote(full.substr(0, at), full.substr(std::min(at + 1, full.size())));
    }
  }
  return samples_ != nullptr && samples_->is_served(reference) ? find_unattended(reference)
                                                               : find_local(reference);
}

Result<std::shared_ptr<encoder::Encoder>> EncoderCache::find_local(const std::string& reference) {
  if (reference.empty() && !registry_.default_name()) {
    return fail(Code::FailedPrecondition, "there is no default model; import one");
  }
  const auto entry = registry_.find(reference);
  if (!entry) {
    return tl::unexpected<Error>(entry.error());
  }
  const std::shared_ptr<Slot> slot = slot_of(entry->path);
  const std::lock_guard opening(slot->opening);
  if (slot->encoder == nullptr) {
    auto model = model::read_model_directory(entry->path);
    if (!model) {
      return pass_on(model, fmt::format("model '{}@{}'", entry->name, entry->version));
    }
    auto opened = encoder::open_cpu_encoder(std::move(*model), entry->name, {});
    if (!opened) {
      return pass_on(opened, fmt::format("model '{}@{}'", entry->name, entry->version));
    }
    slot->encoder = meter_encoder(std::move(*opened));
    base::log_info("server", "model {}@{} is open", entry->name, entry->version);
    evict(entry->path);
  }
  return slot->encoder;
}

std::map<std::string, std::string> EncoderCache::pipelines(const std::string& reference) {
  const auto entry = registry_.find(reference);
  return entry ? entry->provenance.pipelines : std::map<std::string, std::string>();
}

void EncoderCache::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  slots_.erase(path);
}

size_t EncoderCache::open_encoders() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(
      std::ranges::count_if(slots_, [](const auto& item) { return item.second->opened; }));
}

std::shared_ptr<EncoderCache::Slot> EncoderCache::slot_of(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Slot>& slot = slots_[path];
  if (slot == nullptr) {
    slot = std::make_shared<Slot>();
  }
  slot->last_use = ++uses_;
  return slot;
}

void EncoderCache::evict(const std::string& keep) {
  const std::lock_guard lock(mutex_);
  if (const auto kept = slots_.find(keep); kept != slots_.end()) {
    kept->second->opened = true;
  }
  while (slots_.size() > open_max_) {
    auto oldest = slots_.end();
    for (auto at = slots_.begin(); at != slots_.end(); ++at) {
      if (at->first != keep && at->second->opened &&
          (oldest == slots_.end() || at->second->last_use < oldest->second->last_use)) {
        oldest = at;
      }
    }
    if (oldest == slots_.end()) {
      return;  // the others are being opened at this moment
    }
    slots_.erase(oldest);
  }
}

}  // namespace sibyl::server
