#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "answer/answer_service.h"
#include "answer/evaluation.h"

namespace sibyl::answer::internal {

/// Which answers of one question are right, by id or by text.
class GoldAnswers {
 public:
  explicit GoldAnswers(const JudgedQuestion& question);
  size_t count() const { return ids_.size() + texts_.size(); }
  /// The right answer that this one is, counted from 0; -1 when it is wrong.
  int match(const Answer& answer) const;

 private:
  std::vector<std::string> ids_;
  std::vector<std::string> texts_;  ///< without white space
};

/// For each answer whether it is gold; a gold text counts once, however many passages it matches.
std::vector<uint8_t> hits_of(const std::vector<Answer>& answers, const GoldAnswers& gold);

}  // namespace sibyl::answer::internal
