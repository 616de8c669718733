#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "answer/pipeline.h"
#include "store/snapshot.h"

namespace sibyl::answer::internal {

inline constexpr uint32_t kNoChunk = UINT32_MAX;

/// A question ready to be looked up.
struct Question {
  std::vector<float> vector;  ///< empty when only BM25 is asked
  std::vector<store::QueryTerm> terms;
  const store::Selection* selection = nullptr;
  size_t candidates = 200;                 ///< of each retrieval
  std::array<bool, kRetrievals> listed{};  ///< retrievals to search and score
};

/// Each retrieval's own list, best first; empty for those not asked.
using RetrievalLists = std::array<std::vector<store::Hit>, kRetrievals>;

/// The union of the lists of the pipeline's retrievals, with every asked feature for every row, so
/// that nothing counts as 0 because another list missed it. BM25 is divided by the question's best.
struct Candidates {
  std::vector<store::RowRef> rows;
  std::vector<uint64_t> sequences;
  std::vector<std::array<float, kRetrievals>> features;
  std::vector<std::array<uint32_t, kRetrievals>> ranks;  ///< in the own lists, from 1; 0: not in it
  std::vector<uint32_t> chunk_parts;  ///< best chunk; kNoChunk when none was scored
  std::array<bool, kRetrievals> scored{};
};

Result<RetrievalLists> search_lists(const store::Snapshot& snapshot, const Question& question);
/// `members` are the retrievals whose lists make the candidates; the others are scored only.
Result<Candidates> score_candidates(const store::Snapshot& snapshot, const Question& question,
                                    const RetrievalLists& lists,
                                    const std::array<bool, kRetrievals>& members);

}  // namespace sibyl::answer::internal
