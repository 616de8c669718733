#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sibyl::job::internal {

/// One row of a pairs file: a question and one of answer (text) or answer_id.
struct PairRow {
  uint64_t line = 0;  ///< from 1
  std::string question;
  std::string answer;
  std::string answer_id;
};

struct PairRows {
  std::string file;
  std::vector<PairRow> rows;
  uint64_t empty_dropped = 0;  ///< rows whose question or answer holds no text
};

/// Reads pairs in JSONL, CSV or TSV, plain or gzip, by the file's name. InvalidData names the first
/// wrong lines; other columns are passed over.
Result<PairRows> read_pairs(const std::string& path);

/// `a.jsonl line 3: reason; line 9: reason (5 lines are wrong)`.
class WrongLines {
 public:
  void add(const std::string& file, uint64_t line, const std::string& reason);
  bool any() const { return count_ > 0; }
  Error error() const;

 private:
  static constexpr uint64_t kShown = 10;
  uint64_t count_ = 0;
  std::string text_;
};

}  // namespace sibyl::job::internal
