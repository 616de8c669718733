#include "answer/internal/retrieval_lists.h"

#include <unordered_map>

#include "answer/internal/row_builder.h"
#include "index/vector_index.h"

namespace sibyl::answer::internal {
namespace {

constexpr size_t kBm25 = static_cast<size_t>(Retrieval::Bm25);
constexpr size_t kChunks = static_cast<size_t>(Retrieval::Chunks);

uint64_t key_of(store::RowRef ref) {
  return uint64_t{ref.segment} << 32 | ref.row;
}

float best_bm25(const RetrievalLists& lists) {
  return lists[kBm25].empty() ? 0 : lists[kBm25].front().score;
}

}  // namespace

Result<RetrievalLists> search_lists(const store::Snapshot& snapshot, const Question& question) {
  RetrievalLists lists;
  for (size_t r = 0; r < kRetrievals; ++r) {
    if (!question.listed[r]) {
      continue;
    }
    auto hits = r == kBm25 ? snapshot.search_text(kContentField, question.terms,
                                                  question.candidates, question.selection)
                           : snapshot.search_vectors(r, question.vector, question.candidates,
                                                     question.selection);
    if (!hits) {
      return pass_on(hits);
    }
    lists[r] = std::move(*hits);
  }
  return lists;
}

Result<Candidates> score_candidates(const store::Snapshot& snapshot, const Question& question,
                                    const RetrievalLists& lists,
                                    const std::array<bool, kRetrievals>& members) {
  Candidates result;
  std::unordered_map<uint64_t, size_t> places;
  for (size_t r = 0; r < kRetrievals; ++r) {
    for (const store::Hit& hit : lists[r]) {
      if (members[r] && places.emplace(key_of(hit.ref), result.rows.size()).second) {
        result.rows.push_back(hit.ref);
        result.sequences.push_back(hit.sequence);
      }
    }
  }
  result.features.resize(result.rows.size());
  result.ranks.resize(result.rows.size());
  result.chunk_parts.resize(result.rows.size(), kNoChunk);
  result.scored = question.listed;
  for (size_t r = 0; r < kRetrievals; ++r) {
    if (!question.listed[r]) {
      continue;
    }
    auto hits = r == kBm25 ? snapshot.score_text(kContentField, question.terms, result.rows)
                           : snapshot.score_vectors(r, question.vector, result.rows);
    if (!hits) {
      return pass_on(hits);
    }
    const float best = best_bm25(lists);
    for (size_t i = 0; i < hits->size(); ++i) {
      const store::Hit& hit = (*hits)[i];
      if (r == kBm25) {
        result.features[i][r] = best > 0 ? hit.score / best : 0;
      } else if (hit.score != index::kNoVector) {
        result.features[i][r] = hit.score;
        if (r == kChunks) {
          result.chunk_parts[i] = hit.part;
        }
      }
    }
    for (size_t place = 0; place < lists[r].size(); ++place) {
      if (const auto it = places.find(key_of(lists[r][place].ref)); it != places.end()) {
        result.ranks[it->second][r] = static_cast<uint32_t>(place + 1);
      }
    }
  }
  return result;
}

}  // namespace sibyl::answer::internal
