#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "answer/answer_service.h"
#include "answer/internal/passage_table.h"
#include "store/snapshot.h"
#include "text/analyzer.h"

namespace sibyl::answer::internal {

/// Question terms counted for rarity and spans; a longer question's rest is left out of both.
inline constexpr size_t kWeightedTermsMax = 64;

/// How much each question term tells: what the best document of that term alone scores by BM25,
/// which grows with the term's rarity in the whole collection and needs no statistics beside.
class TermWeights {
 public:
  static Result<TermWeights> measure(const store::Snapshot& snapshot, size_t text_field,
                                     const std::vector<store::QueryTerm>& terms);
  explicit TermWeights(std::unordered_map<std::string, double> weights);

  /// Share (0..1) of the question's weight whose terms stand in `text`.
  double coverage(std::string_view text, const text::Analyzer& analyzer) const;

 private:
  std::unordered_map<std::string, double> weights_;
  double total_ = 0;
};

/// The passage that covers most of the question, its headings counted; the first of equal ones.
size_t best_passage(std::string_view text, const PassageTable& table, const TermWeights& weights,
                    const text::Analyzer& analyzer);

/// The sentence of a passage that covers most of the question, or nothing when none holds a term.
std::optional<Span> best_span(std::string_view passage, const TermWeights& weights,
                              const text::Analyzer& analyzer);

}  // namespace sibyl::answer::internal
