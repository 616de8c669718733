#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "base/bytes.h"
#include "text/analyzer.h"

namespace sibyl::answer::internal {

/// Made-up vectors: words hashed into a few dimensions, so that texts that share words are near.
/// The seed makes models differ.
class WordEncoder final : public encoder::Encoder {
 public:
  WordEncoder(std::string name, std::string version, size_t dimension) {
    info_.model = std::move(name);
    info_.version = std::move(version);
    info_.dimension = dimension;
    info_.integer_scheme = "none";
  }
  const encoder::EncoderInfo& info() const override { return info_; }
  const text::Tokenizer* tokenizer() const override { return nullptr; }
  Result<encoder::EncodedTexts> encode(std::span<const std::string_view> texts,
                                       const encoder::EncodeOptions& options) override {
    calls += 1;
    encoded += texts.size();
    if (const auto call = on_encode) {
      call();
    }
    if (options.stop.stop_requested()) {
      return fail(Code::Interrupted, "stopped");
    }
    if (fails_with && failures_left != 0) {
      --failures_left;
      return tl::unexpected<Error>(*fails_with);
    }
    for (const std::string_view text : texts) {
      if (!refused_word.empty() && text.find(refused_word) != std::string_view::npos) {
        return tl::unexpected<Error>(refused_with);
      }
    }
    encoder::EncodedTexts result;
    for (const std::string_view text : texts) {
      std::vector<float> vector(info_.dimension, 0.01F);
      std::vector<text::Term> terms;
      analyzer_->analyze(text, terms);
      for (const text::Term& term : terms) {
        vector[base::hash64(term.text, base::hash64(info_.reference())) % vector.size()] += 1;
      }
      float square = 0;
      for (const float value : vector) {
        square += value * value;
      }
      for (float& value : vector) {
        value /= std::sqrt(square);
      }
      result.vectors.insert(result.vectors.end(), vector.begin(), vector.end());
    }
    return result;
  }

  std::function<void()> on_encode;  ///< called by `encode`; set it where nobody encodes
  std::optional<Error> fails_with;  ///< set it where nobody encodes
  int failures_left = -1;           ///< calls that fail with it; -1: all
  std::string refused_word;         ///< texts with it fail with `refused_with`
  Error refused_with;
  std::atomic<uint64_t> calls = 0;
  std::atomic<uint64_t> encoded = 0;

 private:
  encoder::EncoderInfo info_;
  std::shared_ptr<const text::Analyzer> analyzer_ = *text::Analyzer::create("en");
};

class FakeEncoders final : public EncoderSource {
 public:
  Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) override {
    const std::lock_guard lock(mutex_);
    if (reference.empty() && default_.empty()) {
      return fail(Code::FailedPrecondition, "there is no default model");
    }
    const auto found = encoders_.find(reference.empty() ? default_ : reference);
    if (found == encoders_.end()) {
      return fail(Code::NotFound, "model '{}' is not there", reference);
    }
    return std::shared_ptr<encoder::Encoder>(found->second);
  }
  std::map<std::string, std::string> pipelines(const std::string& reference) override {
    const std::lock_guard lock(mutex_);
    return reference == fitted_for ? fitted : std::map<std::string, std::string>{};
  }
  std::shared_ptr<WordEncoder> put(const std::string& name, const std::string& version,
                                   size_t dimension, bool is_default) {
    const std::lock_guard lock(mutex_);
    auto encoder = std::make_shared<WordEncoder>(name, version, dimension);
    encoders_[name] = encoder;
    encoders_[name + "@" + version] = encoder;
    default_ = is_default ? name : default_;
    return encoder;
  }

  std::string fitted_for;
  std::map<std::string, std::string> fitted;

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<WordEncoder>> encoders_;
  std::string default_;
};

}  // namespace sibyl::answer::internal
