#include "text/internal/wordpiece.h"

#include <array>

#include "text/utf8.h"

namespace sibyl::text {

WordPieceModel::WordPieceModel(std::shared_ptr<const Trie> vocabulary, const Settings& settings)
    : vocabulary_(std::move(vocabulary)),
      settings_(settings),
      continuing_(vocabulary_->walk(settings_.continuing_prefix)) {}

WordPieceModel::Piece WordPieceModel::longest(Trie::Node from, std::string_view word,
                                              size_t begin) const {
  Piece best{-1, begin};
  Trie::Node node = from;
  for (size_t i = begin; i < word.size() && node != Trie::kNone; ++i) {
    node = vocabulary_->child(node, word[i]);
    if (node != Trie::kNone && vocabulary_->value(node) >= 0) {
      best = {vocabulary_->value(node), i + 1};
    }
  }
  return best;
}

void WordPieceModel::encode(const WordBuffer& text, size_t begin, size_t end,
                            TokenSink& sink) const {
  const std::string_view word = std::string_view(text.bytes).substr(0, end);
  const size_t size = end - begin;
  // No word has more characters than bytes, so short ones need no count.
  if (size > settings_.characters_max &&
      code_points(word.substr(begin)) > settings_.characters_max) {
    sink.add(settings_.unknown_id, text, begin, end);
    return;
  }
  const Piece whole = longest(Trie::kRoot, word, begin);
  if (whole.end == end && whole.id >= 0) [[likely]] {
    sink.add(whole.id, text, begin, end);
    return;
  }
  std::vector<Piece> pieces;
  pieces.reserve(16);
  for (Piece piece = whole;; piece = longest(continuing_, word, piece.end)) {
    if (piece.id < 0) {  // one part unknown makes the whole word unknown
      sink.add(settings_.unknown_id, text, begin, end);
      return;
    }
    pieces.push_back(piece);
    if (piece.end == end) {
      break;
    }
  }
  for (const Piece& piece : pieces) {
    sink.add(piece.id, text, begin, piece.end);
    begin = piece.end;
  }
}

void BertWordPiece::encode(std::string_view segment, uint32_t base, TokenSink& sink) const {
  splitter_.split(segment, base, sink.offsets(), [this, &sink](const WordBuffer& word) {
    model_->encode(word, 0, word.bytes.size(), sink);
    return !sink.full();
  });
}

}  // namespace sibyl::text
