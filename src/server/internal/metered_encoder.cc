#include "server/internal/metered_encoder.h"

#include <utility>

#include "base/clock.h"
#include "base/metrics.h"

namespace sibyl::server {
namespace {

class MeteredEncoder final : public encoder::Encoder {
 public:
  explicit MeteredEncoder(std::shared_ptr<encoder::Encoder> encoder)
      : encoder_(std::move(encoder)),
        labels_{{"model", encoder_->info().model}},
        texts_(base::metrics().counter("sibyl_encoder_texts_total", "Texts encoded", labels_)),
        tokens_(base::metrics().counter("sibyl_encoder_tokens_total", "Tokens encoded", labels_)),
        truncated_(base::metrics().counter("sibyl_encoder_truncated_texts_total",
                                           "Texts that were cut at the model's length", labels_)),
        seconds_(base::metrics().histogram(
            "sibyl_encoder_seconds", "Time of one call of an encoder",
            {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30}, labels_)) {}

  const encoder::EncoderInfo& info() const override { return encoder_->info(); }
  Result<encoder::EncodedTexts> encode(std::span<const std::string_view> texts,
                                       const encoder::EncodeOptions& options) override {
    const int64_t begin_us = base::system_clock().steady_us();
    auto encoded = encoder_->encode(texts, options);
    if (encoded) {
      seconds_.observe(static_cast<double>(base::system_clock().steady_us() - begin_us) / 1e6);
      texts_.add(static_cast<double>(texts.size()));
      tokens_.add(static_cast<double>(encoded->tokens));
      truncated_.add(static_cast<double>(encoded->truncated));
    }
    return encoded;
  }
  const text::Tokenizer* tokenizer() const override { return encoder_->tokenizer(); }

 private:
  std::shared_ptr<encoder::Encoder> encoder_;
  const base::MetricLabels labels_;
  base::Counter& texts_;
  base::Counter& tokens_;
  base::Counter& truncated_;
  base::Histogram& seconds_;
};

}  // namespace

std::shared_ptr<encoder::Encoder> meter_encoder(std::shared_ptr<encoder::Encoder> encoder) {
  return std::make_shared<MeteredEncoder>(std::move(encoder));
}

}  // namespace sibyl::server
