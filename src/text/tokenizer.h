#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::text {

/// Tokens of one text, with where each stands in the original bytes (special tokens: 0, 0).
struct Tokens {
  std::vector<int32_t> ids;
  std::vector<uint32_t> begins;  ///< byte offsets into the text given
  std::vector<uint32_t> ends;
  bool truncated = false;
};

struct TokenizeOptions {
  size_t tokens_max = SIZE_MAX;  ///< with special tokens; longer texts are cut at the right
  bool special_tokens = true;    ///< [CLS] … [SEP] by the post-processor
  bool offsets = false;          ///< fill begins and ends
};

/// A tokenizer as Hugging Face's `tokenizers` runs it. Immutable, thread-safe. Ill-formed UTF-8 is
/// read as U+FFFD. Unknown features of a file are refused by name when it is loaded.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual void tokenize(std::string_view text, const TokenizeOptions& options,
                        Tokens& out) const = 0;
  virtual size_t vocabulary_size() const = 0;
  virtual int32_t token_id(std::string_view token) const = 0;  ///< -1 when unknown
  virtual std::string_view token(int32_t id) const = 0;        ///< empty when unknown
  virtual int32_t unknown_id() const = 0;                      ///< -1 when there is none
  virtual int32_t padding_id() const = 0;                      ///< -1 when there is none
  /// The token that starts / ends a text, -1 when there is none.
  virtual int32_t first_special_id() const = 0;
  virtual int32_t last_special_id() const = 0;
};

/// From the content of `tokenizer.json`: WordPiece with BertNormalizer / BertPreTokenizer, Unigram
/// with Metaspace and Precompiled; template and Bert post-processors; added tokens cut out before
/// normalisation. Truncation and padding baked into the file are ignored.
Result<std::shared_ptr<const Tokenizer>> load_tokenizer_json(std::string_view json);

/// BERT WordPiece from `vocab.txt` (one token a line).
struct WordPieceOptions {
  bool lowercase = true;
  bool strip_accents = true;
};
Result<std::shared_ptr<const Tokenizer>> load_wordpiece_vocabulary(std::string_view vocabulary,
                                                                   const WordPieceOptions& options);

/// Learns a WordPiece vocabulary from texts, deterministically, and returns the `tokenizer.json`
/// that holds it (BertNormalizer, BertPreTokenizer, [PAD] [UNK] [CLS] [SEP] [MASK]). Whole words by
/// frequency first, then pieces: made for static embeddings trained from nothing.
std::string learn_wordpiece_json(const std::vector<std::string_view>& texts, size_t tokens_max);

}  // namespace sibyl::text
