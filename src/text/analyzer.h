#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::text {

/// A lexical term and the bytes of the text that it stands for.
struct Term {
  std::string text;
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Text to terms for BM25: lower-case, words of two or more word characters (`\b\w\w+\b`, Unicode),
/// stop words out, Snowball stems; runs of Han, Hiragana, Katakana, Thai, Lao, Khmer and Myanmar
/// script become overlapping character bigrams (a lone character stays). English as
/// shared reference: 33 Lucene stop words, Snowball English. Immutable, thread-safe.
class Analyzer {
 public:
  /// ISO 639-1 code or English name ("en", "german"); "none" stems nothing. InvalidConfig names the
  /// languages there are.
  static Result<std::shared_ptr<const Analyzer>> create(std::string_view language);
  virtual ~Analyzer() = default;
  /// Replaces `out`.
  virtual void analyze(std::string_view text, std::vector<Term>& out) const = 0;
  virtual std::string_view language() const = 0;
};

/// Most likely language of texts among those with a stemmer, by stop words and script; "en" in
/// doubt.
std::string guess_language(std::string_view text);

}  // namespace sibyl::text
