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

void WordPieceModel::encode(const WordBuffer& word, TokenSink& sink) const {
  const std::string_view bytes = word.bytes;
  // A character has at most four bytes, so short words need no count.
  if (bytes.size() > settings_.characters_max && code_points(bytes) > settings_.characters_max) {
    sink.add(settings_.unknown_id, word, 0, bytes.size());
    return;
  }
  const Piece whole = longest(Trie::kRoot, bytes, 0);
  if (whole.end == bytes.size() && whole.id >= 0) [[likely]] {
    sink.add(whole.id, word, 0, bytes.size());
    return;
  }
  std::vector<Piece> pieces;
  pieces.reserve(16);
  for (Piece piece = whole;; piece = longest(continuing_, bytes, piece.end)) {
    if (piece.id < 0) {  // one part unknown makes the whole word unknown
      sink.add(settings_.unknown_id, word, 0, bytes.size());
      return;
    }
    pieces.push_back(piece);
    if (piece.end == bytes.size()) {
      break;
    }
  }
  size_t begin = 0;
  for (const Piece& piece : pieces) {
    sink.add(piece.id, word, begin, piece.end);
    begin = piece.end;
  }
}

void BertWordPiece::encode(std::string_view segment, uint32_t base, TokenSink& sink) const {
  splitter_.split(segment, base, sink.offsets(), [this, &sink](const WordBuffer& word) {
    model_->encode(word, sink);
    return !sink.full();
  });
}

}  // namespace sibyl::text
