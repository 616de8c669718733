#include "server/internal/backed_encoder.h"

#include <cmath>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "encoder/remote_encoder.h"

namespace sibyl::server {
namespace {

/// Failures of asking, not of the texts.
bool is_away(const Error& error) {
  return error.code == Code::Unavailable || error.code == Code::DeadlineExceeded ||
         error.code == Code::FailedPrecondition;
}

class BackedEncoder final : public encoder::Encoder {
 public:
  BackedEncoder(std::shared_ptr<encoder::Encoder> served, std::vector<float> sample,
                CopyOpener copy)
      : served_(std::move(served)),
        sample_(std::move(sample)),
        copy_(std::move(copy)),
        stood_in_(base::metrics().counter(
            "sibyl_remote_encoder_copy_used_total",
            "Calls answered by the copy here because the model server could not be asked",
            {{"model", served_->info().model}})) {}

  const encoder::EncoderInfo& info() const override { return served_->info(); }
  const text::Tokenizer* tokenizer() const override { return served_->tokenizer(); }
  Result<encoder::EncodedTexts> encode(std::span<const std::string_view> texts,
                                       const encoder::EncodeOptions& options) override {
    auto encoded = served_->encode(texts, options);
    if (encoded || !is_away(encoded.error())) {
      return encoded;
    }
    const auto copy = copy_();
    if (!copy || !is_copy(**copy)) {
      return encoded;  // why the model could not be asked says more
    }
    stood_in_.add();
    return (*copy)->encode(texts, options);
  }

 private:
  /// Compared in float32 of two machines: far nearer than two models are.
  bool is_copy(encoder::Encoder& copy) const {
    static constexpr float kDifferenceMax = 1e-3F;
    const std::string_view text = encoder::kSampleText;
    const auto ours = copy.encode(std::span(&text, 1), {});
    if (!ours || ours->vectors.size() != sample_.size()) {
      return false;
    }
    for (size_t i = 0; i < sample_.size(); ++i) {
      if (std::abs(ours->vectors[i] - sample_[i]) > kDifferenceMax) {
        base::log_warning("server",
                          "model {} here is another than the served one of the same name and "
                          "version; it does not stand in",
                          served_->info().reference());
        return false;
      }
    }
    return true;
  }

  const std::shared_ptr<encoder::Encoder> served_;
  const std::vector<float> sample_;
  const CopyOpener copy_;
  base::Counter& stood_in_;
};

}  // namespace

std::shared_ptr<encoder::Encoder> back_encoder(std::shared_ptr<encoder::Encoder> served,
                                               std::vector<float> sample, CopyOpener copy) {
  return std::make_shared<BackedEncoder>(std::move(served), std::move(sample), std::move(copy));
}

}  // namespace sibyl::server
