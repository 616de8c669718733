#include "store/internal/index_policy.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sibyl::store {
namespace {

/// More indexes than these beside the large one become one.
constexpr size_t kIndexesMax = 8;

uint64_t count_vectors(std::span<const uint64_t> vectors, const IndexRange& range) {
  const auto part = vectors.subspan(range.first, range.count);
  return std::accumulate(part.begin(), part.end(), uint64_t{0});
}

}  // namespace

std::optional<IndexRange> choose_build(std::span<const uint64_t> vectors,
                                       std::span<const IndexRange> built, uint64_t flat_min,
                                       uint64_t graph_min) {
  const uint64_t total = std::accumulate(vectors.begin(), vectors.end(), uint64_t{0});
  const IndexRange all{0, vectors.size(), total >= graph_min};
  if (total == 0 || total < flat_min) {
    return std::nullopt;
  }
  if (built.empty()) {
    return all;
  }
  const auto main = std::max_element(built.begin(), built.end(), [&](const auto& a, const auto& b) {
    return count_vectors(vectors, a) < count_vectors(vectors, b);
  });
  const uint64_t main_vectors = count_vectors(vectors, *main);
  uint64_t indexed = 0;
  for (const IndexRange& range : built) {
    indexed += count_vectors(vectors, range);
  }
  const bool outgrown = all.graph && !main->graph;
  if (outgrown || total - main_vectors >= std::max({flat_min, main_vectors / 4, uint64_t{1}})) {
    return all;
  }
  if (built.size() <= 1 + kIndexesMax && total - indexed < std::max<uint64_t>(flat_min / 16, 1)) {
    return std::nullopt;
  }
  const size_t end = main->first + main->count;
  return main->first == 0 ? IndexRange{end, vectors.size() - end, false} : all;
}

}  // namespace sibyl::store
