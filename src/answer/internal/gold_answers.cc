#include "answer/internal/gold_answers.h"

#include <algorithm>

namespace sibyl::answer::internal {
namespace {

/// A part of a right answer counts when it is long enough not to stand elsewhere by chance.
constexpr size_t kPartBytesMin = 200;

std::string without_space(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      out += c;
    }
  }
  return out;
}

}  // namespace

GoldAnswers::GoldAnswers(const JudgedQuestion& question) : ids_(question.gold) {
  for (const std::string& text : question.gold_texts) {
    texts_.push_back(without_space(text));
  }
}

int GoldAnswers::match(const Answer& answer) const {
  if (const auto id = std::find(ids_.begin(), ids_.end(), answer.id); id != ids_.end()) {
    return static_cast<int>(id - ids_.begin());
  }
  if (texts_.empty()) {
    return -1;
  }
  const std::string passage = without_space(answer.text);
  for (size_t i = 0; i < texts_.size(); ++i) {
    const bool is_part =
        passage.size() >= kPartBytesMin && texts_[i].find(passage) != std::string::npos;
    if (passage == texts_[i] || is_part) {
      return static_cast<int>(ids_.size() + i);
    }
  }
  return -1;
}

std::vector<uint8_t> hits_of(const std::vector<Answer>& answers, const GoldAnswers& gold) {
  std::vector<uint8_t> hits;
  std::unordered_set<int> seen;
  for (const Answer& answer : answers) {
    const int match = gold.match(answer);
    hits.push_back(match >= 0 && seen.insert(match).second ? 1 : 0);
  }
  return hits;
}

}  // namespace sibyl::answer::internal
