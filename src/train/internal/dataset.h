#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::train {

struct LabelledQuestion {
  std::string question;
  std::vector<uint32_t> passages;  ///< indexes into Dataset::passages, sorted, distinct, not empty
};
struct ColdPair {
  std::string question;
  uint32_t passage = 0;
  std::optional<std::string> text;  ///< read instead of the passage
};

/// The files of a workspace's `data/` that training reads (docs/formats/workspace.md).
struct Dataset {
  std::vector<std::string> passages;
  std::vector<LabelledQuestion> pairs;
  std::vector<ColdPair> cold;
  std::vector<LabelledQuestion> valid;
};

struct DatasetNeeds {
  bool pairs = false;
  bool cold = false;
};

/// Reads `folder`/{passages,pairs,cold,valid}.jsonl. NotFound for a missing file that is needed,
/// InvalidData naming file and line for a wrong one. `valid` may be missing.
Result<Dataset> read_dataset(const std::string& folder, const DatasetNeeds& needs);

/// 16 hexadecimal digits over the job and everything that is trained or measured on: a checkpoint
/// made from other data is told by it. Not against a forger.
std::string fingerprint(std::string_view job, const Dataset& data);

/// Text for comparing passages: lower-case ASCII, runs of white space as one blank.
std::string normalized_text(std::string_view text);

}  // namespace sibyl::train
