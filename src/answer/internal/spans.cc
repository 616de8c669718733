#include "answer/internal/spans.h"

#include <algorithm>
#include <unordered_set>

#include "text/sentences.h"

namespace sibyl::answer::internal {

Result<TermWeights> TermWeights::measure(const store::Snapshot& snapshot, size_t text_field,
                                         const std::vector<store::QueryTerm>& terms) {
  std::unordered_map<std::string, double> weights;
  for (size_t i = 0; i < std::min(terms.size(), kWeightedTermsMax); ++i) {
    const store::QueryTerm alone{terms[i].text, 1};
    auto best = snapshot.search_text(text_field, std::span(&alone, 1), 1, nullptr);
    if (!best) {
      return pass_on(best);
    }
    if (!best->empty()) {
      weights[alone.text] = static_cast<double>(best->front().score);
    }
  }
  return TermWeights(std::move(weights));
}

TermWeights::TermWeights(std::unordered_map<std::string, double> weights)
    : weights_(std::move(weights)) {
  // Summed in a fixed order, so that equal questions give equal bits.
  std::vector<double> sorted;
  for (const auto& [term, weight] : weights_) {
    sorted.push_back(weight);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double weight : sorted) {
    total_ += weight;
  }
}

double TermWeights::coverage(std::string_view text, const text::Analyzer& analyzer) const {
  if (total_ <= 0) {
    return 0;
  }
  std::vector<text::Term> terms;
  analyzer.analyze(text, terms);
  std::unordered_set<std::string_view> seen;
  double sum = 0;
  for (const text::Term& term : terms) {
    const auto weight = weights_.find(term.text);
    if (weight != weights_.end() && seen.insert(term.text).second) {
      sum += weight->second;
    }
  }
  return std::min(1.0, sum / total_);
}

size_t best_passage(std::string_view text, const PassageTable& table, const TermWeights& weights,
                    const text::Analyzer& analyzer) {
  size_t best = 0;
  double best_coverage = -1;
  for (size_t p = 0; p < table.passages.size() && table.passages.size() > 1; ++p) {
    const Passage& passage = table.passages[p];
    std::string seen;
    for (const std::string& heading : table.headings[passage.heading]) {
      seen += heading;
      seen += '\n';
    }
    seen += text.substr(passage.range.begin, passage.range.end - passage.range.begin);
    const double coverage = weights.coverage(seen, analyzer);
    if (coverage > best_coverage) {
      best_coverage = coverage;
      best = p;
    }
  }
  return best;
}

std::optional<Span> best_span(std::string_view passage, const TermWeights& weights,
                              const text::Analyzer& analyzer) {
  std::optional<Span> best;
  for (const text::Range& range : text::split_sentences(passage)) {
    const std::string_view sentence = passage.substr(range.begin, range.end - range.begin);
    const double coverage = weights.coverage(sentence, analyzer);
    // Of equal coverage the shorter one answers more to the point.
    const bool better =
        coverage > 0 && (!best || coverage > best->score ||
                         (coverage == best->score && sentence.size() < best->text.size()));
    if (better) {
      best = Span{std::string(sentence), range.begin, range.end, coverage};
    }
  }
  return best;
}

}  // namespace sibyl::answer::internal
