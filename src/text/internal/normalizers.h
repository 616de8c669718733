#pragma once

#include <memory>
#include <vector>

#include "base/json.h"
#include "text/internal/token_sink.h"

namespace sibyl::text {

/// One step of a normalizer. Immutable, thread-safe.
class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;
  /// Appends the result to `out`, which is empty; origins (when wanted) are bytes of `text`.
  virtual void apply(std::string_view text, bool offsets, WordBuffer& out) const = 0;
};

/// A chain of steps.
class Normalizer {
 public:
  /// From "normalizer" of a tokenizer.json; null gives no steps. Names what is not supported.
  static Result<Normalizer> read(const base::Json* normalizer);

  /// Replaces `out` by the normalised text with origins from `base` on.
  void apply(std::string_view text, uint32_t base, bool offsets, WordBuffer& out) const;

 private:
  Result<void> add(const base::Json& normalizer, size_t depth);
  Result<void> add_replace(const base::Json& normalizer);

  std::vector<std::unique_ptr<NormalizerStep>> steps_;
};

/// Appends bytes that all stand for [begin, end).
void append_with_origin(std::string_view bytes, size_t begin, size_t end, bool offsets,
                        WordBuffer& out);

}  // namespace sibyl::text
