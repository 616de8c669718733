#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/internal/token_sink.h"
#include "text/internal/trie.h"

namespace sibyl::text {

/// SentencePiece's unigram model: the likeliest split of a text into pieces, by Viterbi. Immutable.
class UnigramModel final : public PieceModel {
 public:
  struct Settings {
    int32_t unknown_id = 0;
    bool byte_fallback = false;
    std::vector<int32_t> byte_ids;  ///< 256 with byte fallback; -1 where "<0xHH>" is missing
  };
  UnigramModel(std::shared_ptr<const Trie> vocabulary, std::vector<double> scores,
               Settings settings);

  void encode(const WordBuffer& text, size_t begin, size_t end, TokenSink& sink) const override;

 private:
  struct Node {
    double score = 0;
    size_t start = SIZE_MAX;  // where the best piece that ends here starts
    int32_t id = -1;
  };
  class Run;

  /// Extends the best paths by every piece that starts at `at`; returns how far they reach.
  size_t extend(std::string_view text, size_t at, size_t base, std::vector<Node>& nodes) const;

  std::shared_ptr<const Trie> vocabulary_;
  std::vector<double> scores_;
  Settings settings_;
  double unknown_score_;
};

}  // namespace sibyl::text
