#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "answer/answer_service.h"

namespace sibyl::server {

/// Texts of one request, whatever protocol it speaks.
inline constexpr size_t kTextsMax = 2048;

/// The vectors of a request's texts, and the model that made them.
struct Prediction {
  std::vector<float> vectors;  ///< [texts x dimension], in the order of the texts
  size_t dimension = 0;
  uint64_t tokens = 0;
  std::string model;
  std::string version;

  size_t texts() const { return dimension == 0 ? 0 : vectors.size() / dimension; }
  std::span<const float> vector(size_t text) const {
    return std::span<const float>(vectors).subspan(text * dimension, dimension);
  }
  /// Every vector, row-major, as little-endian float32.
  std::string bytes() const;
};

/// "question" or "document"; nothing for anything else, whatever a client may mean by it.
std::optional<encoder::TextKind> text_kind_of(std::string_view kind);

/// Refuses no texts and more than kTextsMax; `field` is where the protocol has them.
Result<void> check_text_count(size_t count, const std::string& field);

/// The encoder of a reference ("name", "name@3", "" for the one there is). NotFound, with the field
/// "model", also for what could be no model's name.
Result<std::shared_ptr<encoder::Encoder>> find_encoder(answer::EncoderSource& models,
                                                       const std::string& reference);

/// Encodes with the model of this reference, as `find_encoder` finds it. A few texts are somebody's
/// question and go before the others. `kind` chooses the model's prompt.
Result<Prediction> predict(answer::EncoderSource& models, const std::string& reference,
                           std::span<const std::string> texts, encoder::TextKind kind,
                           std::stop_token stop);

}  // namespace sibyl::server
