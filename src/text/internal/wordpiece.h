#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/internal/bert_splitter.h"
#include "text/internal/token_sink.h"
#include "text/internal/trie.h"

namespace sibyl::text {

/// Splits normalised words into the longest known pieces, from left to right. Immutable.
class WordPieceModel final : public PieceModel {
 public:
  struct Settings {
    int32_t unknown_id = 0;
    std::string continuing_prefix = "##";
    size_t characters_max = 100;  ///< longer words are one unknown token
  };
  WordPieceModel(std::shared_ptr<const Trie> vocabulary, const Settings& settings);

  void encode(const WordBuffer& text, size_t begin, size_t end, TokenSink& sink) const override;

 private:
  struct Piece {
    int32_t id;
    size_t end;
  };
  /// The longest piece that starts at `begin`; id -1 when there is none.
  Piece longest(Trie::Node from, std::string_view word, size_t begin) const;

  std::shared_ptr<const Trie> vocabulary_;
  Settings settings_;
  Trie::Node continuing_;  // below the continuing prefix; kNone when no piece has it
};

/// WordPiece behind BERT's own normaliser and pre-tokenizer, without copies between the steps.
class BertWordPiece : public SegmentEncoder {
 public:
  BertWordPiece(const BertOptions& options, std::shared_ptr<const WordPieceModel> model)
      : splitter_(options), model_(std::move(model)) {}
  void encode(std::string_view segment, uint32_t base, TokenSink& sink) const override;

 private:
  BertSplitter splitter_;
  std::shared_ptr<const WordPieceModel> model_;
};

}  // namespace sibyl::text
