#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace sibyl::encoder {

/// What kind of text is encoded: chooses the model's prompt.
enum class TextKind { Question, Document };
/// Questions go before documents, also between the layers of a running batch.
enum class Urgency { Question, Document };

struct EncodeOptions {
  TextKind kind = TextKind::Document;
  Urgency urgency = Urgency::Document;
  size_t tokens_max = 0;  ///< 0: the model's own limit
  std::stop_token stop;
};

struct EncodedTexts {
  std::vector<float> vectors;  ///< [texts x dimension], in the order given
  uint64_t tokens = 0;
  uint64_t truncated = 0;  ///< texts that were cut
};

struct EncoderInfo {
  std::string model;    ///< registry name
  std::string version;  ///< of sibyl.json, "1" without
  size_t dimension = 0;
  size_t tokens_max = 0;       ///< 0: no limit
  std::string integer_scheme;  ///< "none" for float32
  std::string reference() const { return model + "@" + version; }
};

/// Texts to vectors; local or remote behind one interface. Thread-safe. Empty text is a text
/// (special tokens only, or a zero vector for static models); never NaN.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual const EncoderInfo& info() const = 0;
  /// The same text gives the same bits whatever else is in the call and however many threads run.
  /// Interrupted when `options.stop` was requested.
  virtual Result<EncodedTexts> encode(std::span<const std::string_view> texts,
                                      const EncodeOptions& options) = 0;
  /// For chunking and counting; nullptr when the model is elsewhere.
  virtual const text::Tokenizer* tokenizer() const = 0;
};

}  // namespace sibyl::encoder
