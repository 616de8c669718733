#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/encoder.h"
#include "model/model_directory.h"

namespace sibyl::encoder {

/// Texts of one call to token ids: the prompt of the kind put before, cut at the limit, ids without
/// a weight replaced by the unknown token. Not shared between threads.
class TextTokens {
 public:
  /// `rows` is the number of token ids that have weights; the directory must live longer.
  TextTokens(const model::ModelDirectory& model, size_t rows, const EncodeOptions& options,
             bool special_tokens);

  /// Ids of one text; valid until the next call.
  const std::vector<int32_t>& ids(std::string_view text);
  /// Whether the last text was cut.
  bool truncated() const { return tokens_.truncated; }
  /// Tokens at the start of each text that are the prompt's, a first special token among them.
  size_t prompt_tokens() const { return prompt_tokens_; }

 private:
  const text::Tokenizer& tokenizer_;
  size_t rows_;
  text::TokenizeOptions options_;
  std::string prompt_;
  std::string joined_;
  size_t prompt_tokens_ = 0;
  text::Tokens tokens_;
};

}  // namespace sibyl::encoder
