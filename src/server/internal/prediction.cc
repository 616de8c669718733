#include "server/internal/prediction.h"

#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace sibyl::server {
namespace {

/// So few texts are somebody's questions; more of them wait behind questions.
constexpr size_t kUrgentTextsMax = 4;

}  // namespace

std::string Prediction::bytes() const {
  std::string out;
  out.reserve(vectors.size() * sizeof(float));
  for (const float value : vectors) {
    base::put_f32(out, value);
  }
  return out;
}

std::optional<encoder::TextKind> text_kind_of(std::string_view kind) {
  if (kind == "question") {
    return encoder::TextKind::Question;
  }
  return kind == "document" ? std::optional(encoder::TextKind::Document) : std::nullopt;
}

Result<void> check_text_count(size_t count, const std::string& field) {
  if (count == 0 || count > kTextsMax) {
    return fail_field(Code::InvalidArgument, field, "'{}' holds {} texts; it must hold 1 to {}",
                      field, count, kTextsMax);
  }
  return {};
}

Result<std::shared_ptr<encoder::Encoder>> find_encoder(answer::EncoderSource& models,
                                                       const std::string& reference) {
  auto encoder = models.find(reference);
  if (!encoder &&
      (encoder.error().code == Code::NotFound || encoder.error().code == Code::InvalidArgument)) {
    encoder.error().code = Code::NotFound;
    encoder.error().field = "model";
  }
  return encoder;
}

Result<Prediction> predict(answer::EncoderSource& models, const std::string& reference,
                           std::span<const std::string> texts, encoder::TextKind kind,
                           std::stop_token stop) {
  auto encoder = find_encoder(models, reference);
  if (!encoder) {
    return pass_on(encoder);
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  encoder::EncodeOptions options;
  options.kind = kind;
  options.urgency =
      views.size() <= kUrgentTextsMax ? encoder::Urgency::Question : encoder::Urgency::Document;
  options.stop = std::move(stop);
  auto encoded = (*encoder)->encode(views, options);
  if (!encoded) {
    return pass_on(encoded);
  }
  const encoder::EncoderInfo& info = (*encoder)->info();
  return Prediction{std::move(encoded->vectors), info.dimension, encoded->tokens, info.model,
                    info.version};
}

}  // namespace sibyl::server
