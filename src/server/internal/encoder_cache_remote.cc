#include <utility>

#include "base/log.h"
#include "encoder/remote_encoder.h"
#include "model/model_directory.h"
#include "server/internal/backed_encoder.h"
#include "server/internal/encoder_cache.h"
#include "server/internal/metered_encoder.h"

namespace sibyl::server {
namespace {

/// "helpdesk@3" as name and version; the version is empty without one.
std::pair<std::string, std::string> split_reference(const std::string& reference) {
  const size_t at = reference.find('@');
  return at == std::string::npos ? std::pair(reference, std::string())
                                 : std::pair(reference.substr(0, at), reference.substr(at + 1));
}

}  // namespace

void EncoderCache::serve_from(std::unique_ptr<RemoteModels> remote,
                              std::unique_ptr<ModelSamples> samples) {
  remote_ = std::move(remote);
  samples_ = std::move(samples);
}

void EncoderCache::start_following(std::function<void(const answer::ServedModel&)> tell) {
  if (remote_ != nullptr) {
    remote_->start(std::move(tell));
  }
}

void EncoderCache::stop_following() {
  if (remote_ != nullptr) {
    remote_->stop();
  }
}

std::vector<RemoteModels::Listed> EncoderCache::served() const {
  return remote_ == nullptr ? std::vector<RemoteModels::Listed>() : remote_->list();
}

std::string EncoderCache::default_name() const {
  return registry_.default_name().value_or(remote_ == nullptr ? std::string() : remote_->first());
}

/// The default is the registry's; without one the first model that is served elsewhere.
std::string EncoderCache::full_reference(const std::string& reference) const {
  return !reference.empty() ? reference : default_name();
}

std::string EncoderCache::served_name(const std::string& reference) {
  const auto [name, version] = split_reference(full_reference(reference));
  const bool served = version.empty() && ((remote_ != nullptr && remote_->has(name)) ||
                                          (samples_ != nullptr && samples_->is_served(name)));
  return served ? name : std::string();
}

Result<std::shared_ptr<encoder::Encoder>> EncoderCache::find_unattended(
    const std::string& reference) {
  if (registry_.find(reference)) {
    auto copy =
        reference.find('@') == std::string::npos ? find_local(reference) : find_copy(reference);
    if (copy || copy.error().code != Code::FailedPrecondition) {
      return copy;
    }
  }
  return fail(Code::Unavailable,
              "model '{}' is served elsewhere, and this process was not told where: `sibyl serve "
              "--encoder {}=…` on this directory reaches it",
              reference, reference.substr(0, reference.find('@')));
}

Result<std::shared_ptr<encoder::Encoder>> EncoderCache::find_copy(const std::string& reference) {
  auto copy = find_local(reference);
  if (!copy) {
    return copy;
  }
  const std::lock_guard lock(copies_mutex_);
  if (copies_[reference].lock() == *copy) {
    return copy;
  }
  const std::string_view text = encoder::kSampleText;
  encoder::EncodeOptions options;
  options.urgency = encoder::Urgency::Question;  // questions wait for it
  auto ours = (*copy)->encode(std::span(&text, 1), options);
  if (!ours) {
    return pass_on(ours);
  }
  const auto known = samples_->find(reference);
  if (known && !is_same_sample(known->vector, ours->vectors)) {
    return fail(Code::FailedPrecondition,
                "model '{}' here is another than the one of that name and version by which vectors "
                "were made; it does not stand in",
                reference);
  }
  if (!known) {
    if (auto kept = samples_->put(reference, {std::move(ours->vectors), false}); !kept) {
      return pass_on(kept);
    }
  }
  copies_[reference] = *copy;
  return copy;
}

Result<void> EncoderCache::keep_served(const std::string& reference,
                                       const std::vector<float>& sample) {
  const std::lock_guard lock(copies_mutex_);
  const auto known = samples_->find(reference);
  const bool same = known && is_same_sample(known->vector, sample);
  if (known && known->is_served && same) {
    return {};
  }
  if (known && !known->is_served && !same) {
    return fail(Code::FailedPrecondition,
                "model '{}' that is served is another than the copy here, by which vectors of that "
                "name and version were made; publish it as a new version",
                reference);
  }
  if (known && !same) {
    base::log_warning("server",
                      "model {} is served with other weights than before under the same version: "
                      "its vectors do not fit those that were made; publish it as a new version",
                      reference);
  }
  copies_.erase(reference);
  return samples_->put(reference, {sample, true});
}

Result<std::shared_ptr<encoder::Encoder>> EncoderCache::find_remote(const std::string& name,
                                                                    const std::string& version) {
  auto served = remote_->find(name, version);
  if (!served) {
    // A version that was published and is not rolled out yet, or was and is not any more.
    if (!version.empty()) {
      if (auto copy = find_copy(name + "@" + version)) {
        return copy;
      }
    }
    return pass_on(served);
  }
  if (auto kept = keep_served(served->info.reference(), served->sample); !kept) {
    return pass_on(kept);
  }
  const auto entry = registry_.find(served->info.reference());
  if (!entry || entry->dimension != served->info.dimension) {
    return meter_encoder(served->model->encoder(served->info, nullptr));
  }
  return back_encoder(
      meter_encoder(served->model->encoder(served->info, tokenizer_of(*entry))),
      [this, reference = served->info.reference()] { return find_copy(reference); });
}

std::shared_ptr<const text::Tokenizer> EncoderCache::tokenizer_of(const model::ModelEntry& entry) {
  const std::lock_guard lock(tokenizers_mutex_);
  const auto known = tokenizers_.find(entry.path);
  if (known != tokenizers_.end()) {
    return known->second;
  }
  const auto directory = model::read_model_directory(entry.path);
  if (tokenizers_.size() >= open_max_) {
    tokenizers_.clear();
  }
  // A damaged copy is not asked for again; passages are cut without it.
  return tokenizers_.emplace(entry.path, directory ? (*directory)->tokenizer : nullptr)
      .first->second;
}

}  // namespace sibyl::server
