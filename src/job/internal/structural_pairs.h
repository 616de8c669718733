#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "job/internal/passage_builder.h"

namespace sibyl::job::internal {

/// A question made from the passage itself and what answers it.
struct ColdPair {
  std::string question;
  uint32_t passage = 0;
  std::optional<std::string> text;  ///< read instead of the passage
};

struct ColdOptions {
  size_t sentences = 1;       ///< a passage, at most
  bool all_headings = false;  ///< also (title + headings -> text)
  double whole_share = 0.1;   ///< of sentence pairs whose answer is the whole passage
};

/// Pairs without labels from a passage's structure: (last heading -> text), (title + headings ->
/// text), (sentence -> the rest with its headings).
std::vector<ColdPair> structural_pairs(const Passage& passage, uint32_t index,
                                       const ColdOptions& options, base::Random& random);

}  // namespace sibyl::job::internal
