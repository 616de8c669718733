#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/internal/added_tokens.h"
#include "text/internal/token_sink.h"
#include "text/internal/trie.h"
#include "text/tokenizer.h"

namespace sibyl::text {

/// What a tokenizer is made of; filled by the file readers.
struct TokenizerParts {
  std::vector<std::string> tokens;         ///< by id, added tokens included; holes are empty
  std::shared_ptr<const Trie> vocabulary;  ///< the model's own tokens
  std::vector<AddedToken> added;           ///< all; the encoder cuts out the normalized ones
  std::unique_ptr<SegmentEncoder> encoder;
  std::vector<int32_t> before;  ///< special tokens that the post-processor puts around
  std::vector<int32_t> after;
  int32_t unknown_id = -1;
  int32_t padding_id = -1;
};

/// Added tokens, segments between them, special tokens around: the frame of every tokenizer.
class PipelineTokenizer : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts);

  void tokenize(std::string_view text, const TokenizeOptions& options, Tokens& out) const override;
  size_t vocabulary_size() const override { return parts_.tokens.size(); }
  int32_t token_id(std::string_view token) const override;
  std::string_view token(int32_t id) const override;
  int32_t unknown_id() const override { return parts_.unknown_id; }
  int32_t padding_id() const override { return parts_.padding_id; }
  int32_t first_special_id() const override {
    return parts_.before.empty() ? -1 : parts_.before.front();
  }
  int32_t last_special_id() const override {
    return parts_.after.empty() ? -1 : parts_.after.back();
  }

 private:
  void encode_text(std::string_view text, TokenSink& sink) const;

  TokenizerParts parts_;
  AddedTokens raw_added_;
};

}  // namespace sibyl::text
