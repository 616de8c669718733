#include "train/internal/validation.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "rank/metrics.h"

namespace sibyl::train {
namespace {

constexpr size_t kDepth = 10;
constexpr int64_t kQuestionsAtOnce = 256;

}  // namespace

Validation::Validation(const Dataset& data, const std::vector<uint32_t>& passages,
                       const std::vector<LabelledQuestion>& questions,
                       const text::Tokenizer& tokenizer, const TokenizeRule& question_rule,
                       const TokenizeRule& passage_rule) {
  std::vector<std::string_view> texts;
  std::vector<int64_t> place(data.passages.size(), -1);
  for (const uint32_t passage : passages) {
    place[passage] = static_cast<int64_t>(texts.size());
    texts.push_back(data.passages[passage]);
  }
  passages_ = tokenize_all(tokenizer, texts, passage_rule);
  texts.clear();
  for (const LabelledQuestion& question : questions) {
    texts.push_back(question.question);
    auto& gold = gold_.emplace_back();
    for (const uint32_t passage : question.passages) {
      base::check(place[passage] >= 0, "right answers are among the passages ranked");
      gold.push_back(static_cast<uint32_t>(place[passage]));
    }
  }
  questions_ = tokenize_all(tokenizer, texts, question_rule);
}

double ndcg_of_scores(std::span<const float> scores, const std::vector<uint32_t>& gold) {
  std::array<uint8_t, kDepth> hits{};
  for (const uint32_t place : gold) {
    size_t better = 0;
    for (size_t i = 0; i < scores.size() && better < kDepth; ++i) {
      better += scores[i] > scores[place] || (scores[i] == scores[place] && i < place) ? 1 : 0;
    }
    if (better < kDepth) {
      hits[better] = 1;
    }
  }
  return rank::score_ranking(hits, gold.size()).ndcg_at_10;
}

std::optional<double> Validation::run(Network& network, const MicroBatchLimits& limits,
                                      const std::stop_token& stop) const {
  const auto passages = encode_all(network, passages_, limits, stop);
  if (!passages) {
    return std::nullopt;
  }
  const auto questions = encode_all(network, questions_, limits, stop);
  if (!questions) {
    return std::nullopt;
  }
  const c10::NoGradGuard no_grad;
  double sum = 0;
  for (int64_t first = 0; first < questions->size(0); first += kQuestionsAtOnce) {
    const int64_t count = std::min(kQuestionsAtOnce, questions->size(0) - first);
    const at::Tensor scores =
        at::mm(questions->narrow(0, first, count), passages->t()).contiguous();
    const auto width = static_cast<size_t>(scores.size(1));
    for (int64_t i = 0; i < count; ++i) {
      const auto* row = scores.data_ptr<float>() + static_cast<size_t>(i) * width;
      sum += ndcg_of_scores({row, width}, gold_[static_cast<size_t>(first + i)]);
    }
  }
  return gold_.empty() ? 0.0 : sum / static_cast<double>(gold_.size());
}

}  // namespace sibyl::train
