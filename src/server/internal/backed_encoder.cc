#include "server/internal/backed_encoder.h"

#include <utility>

#include "base/log.h"
#include "base/metrics.h"

namespace sibyl::server {
namespace {

/// Failures of asking, not of the texts.
bool is_away(const Error& error) {
  return error.code == Code::Unavailable || error.code == Code::DeadlineExceeded ||
         error.code == Code::FailedPrecondition;
}

class BackedEncoder final : public encoder::Encoder {
 public:
  BackedEncoder(std::shared_ptr<encoder::Encoder> served, CopyOpener copy)
      : served_(std::move(served)),
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
    if (!copy) {
      note(copy.error());
      return encoded;  // why the model could not be asked says more
    }
    stood_in_.add();
    return (*copy)->encode(texts, options);
  }

 private:
  /// That there is no copy is usual; that it cannot be used is not.
  void note(const Error& error) const {
    if (error.code != Code::NotFound) {
      base::log_warning("server", "model {} has no copy to stand in: {}",
                        served_->info().reference(), error.message);
    }
  }

  const std::shared_ptr<encoder::Encoder> served_;
  const CopyOpener copy_;
  base::Counter& stood_in_;
};

}  // namespace

std::shared_ptr<encoder::Encoder> back_encoder(std::shared_ptr<encoder::Encoder> served,
                                               CopyOpener copy) {
  return std::make_shared<BackedEncoder>(std::move(served), std::move(copy));
}

}  // namespace sibyl::server
