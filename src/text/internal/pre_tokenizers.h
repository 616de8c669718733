#pragma once

#include <memory>
#include <vector>

#include "base/json.h"
#include "text/internal/token_sink.h"

namespace sibyl::text {

/// A normalised text and the pieces of it that become words.
struct PreTokens {
  WordBuffer text;
  struct Piece {
    size_t begin;
    size_t end;
    bool opens_text;  ///< starts where the original text starts
  };
  std::vector<Piece> pieces;
};

class PreTokenizerStep {
 public:
  virtual ~PreTokenizerStep() = default;
  /// Divides every piece of `in` and appends to `out`, which is empty.
  virtual void apply(const PreTokens& in, bool offsets, PreTokens& out) const = 0;
};

/// A chain of steps. Immutable, thread-safe.
class PreTokenizer {
 public:
  /// From "pre_tokenizer" of a tokenizer.json; null leaves texts whole.
  static Result<PreTokenizer> read(const base::Json* pre_tokenizer);

  /// Works in place.
  void apply(bool offsets, PreTokens& tokens) const;

 private:
  Result<void> add(const base::Json& pre_tokenizer, size_t depth);

  std::vector<std::unique_ptr<const PreTokenizerStep>> steps_;
};

}  // namespace sibyl::text
