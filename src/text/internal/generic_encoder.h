#pragma once

#include <memory>
#include <vector>

#include "text/internal/added_tokens.h"
#include "text/internal/normalizers.h"
#include "text/internal/pre_tokenizers.h"
#include "text/internal/token_sink.h"

namespace sibyl::text {

/// Any chain of steps before any model, one step after the other.
class GenericEncoder : public SegmentEncoder {
 public:
  /// `added` are the tokens that are looked for in normalised text.
  GenericEncoder(Normalizer normalizer, PreTokenizer pre_tokenizer,
                 std::shared_ptr<const PieceModel> model, std::vector<AddedToken> added);

  void encode(std::string_view segment, uint32_t base, TokenSink& sink) const override;

 private:
  void encode_part(const WordBuffer& text, size_t begin, size_t end, bool opens_text,
                   TokenSink& sink) const;

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::shared_ptr<const PieceModel> model_;
  AddedTokens added_;
};

}  // namespace sibyl::text
