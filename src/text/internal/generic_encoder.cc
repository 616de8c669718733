#include "text/internal/generic_encoder.h"

#include <utility>

namespace sibyl::text {

namespace {

/// The library looks for the normalised form of such tokens.
std::vector<AddedToken> normalised(std::vector<AddedToken> tokens, const Normalizer& normalizer) {
  for (AddedToken& token : tokens) {
    WordBuffer form;
    normalizer.apply(token.content, 0, false, form);
    token.content = std::move(form.bytes);
  }
  return tokens;
}

}  // namespace

GenericEncoder::GenericEncoder(Normalizer normalizer, PreTokenizer pre_tokenizer,
                               std::shared_ptr<const PieceModel> model,
                               std::vector<AddedToken> added)
    : normalizer_(std::move(normalizer)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      model_(std::move(model)),
      added_(normalised(std::move(added), normalizer_)) {}

void GenericEncoder::encode(std::string_view segment, uint32_t base, TokenSink& sink) const {
  WordBuffer text;
  normalizer_.apply(segment, base, sink.offsets(), text);
  for (size_t done = 0; done < text.bytes.size() && !sink.full();) {
    const AddedTokens::Cut cut = added_.find(text.bytes, done, done);
    if (cut.begin > done) {
      encode_part(text, done, cut.begin, base == 0 && done == 0, sink);
    }
    if (cut.id >= 0 && !sink.full()) {
      sink.add(cut.id, text, cut.begin, cut.end);
    }
    done = cut.end;
  }
}

void GenericEncoder::encode_part(const WordBuffer& text, size_t begin, size_t end, bool opens_text,
                                 TokenSink& sink) const {
  PreTokens tokens;
  tokens.text = text;
  tokens.pieces = {{begin, end, opens_text}};
  pre_tokenizer_.apply(sink.offsets(), tokens);
  for (const PreTokens::Piece& piece : tokens.pieces) {
    if (sink.full()) {
      return;
    }
    model_->encode(tokens.text, piece.begin, piece.end, sink);
  }
}

}  // namespace sibyl::text
