#include "index/internal/neighbour_candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "simd/matrix_distance.h"

namespace sibyl::index {
namespace {
constexpr size_t kLocks = 4096;
}  // namespace

Candidate make_candidate(float distance, uint32_t node) {
  // Distances are not negative, so their bits order as they do.
  return static_cast<uint64_t>(std::bit_cast<uint32_t>(distance)) << 32U | node;
}

float candidate_distance(Candidate candidate) {
  return std::bit_cast<float>(static_cast<uint32_t>(candidate >> 32U));
}

NeighbourCandidates::NeighbourCandidates(size_t nodes, size_t capacity)
    : capacity_(capacity), counts_(nodes), kept_(nodes * capacity), locks_(kLocks) {}

void NeighbourCandidates::offer(uint32_t node, std::span<const uint32_t> others,
                                const float* distances, Scratch& scratch) {
  const std::lock_guard lock(locks_[node % kLocks]);
  const bool full = counts_[node] == capacity_;
  // The next float up, so that equal distances with a lower number are seen.
  const float farthest = full ? candidate_distance(of(node).back()) : HUGE_VALF;
  scratch.places.resize(others.size() + simd::kPanelRows);
  const size_t found = simd::places_below(distances, others.size(),
                                          full ? std::nextafter(farthest, HUGE_VALF) : farthest,
                                          scratch.places.data());
  scratch.offered.clear();
  for (size_t i = 0; i < found; ++i) {
    const uint32_t place = scratch.places[i];
    if (others[place] != node) {
      scratch.offered.push_back(make_candidate(distances[place], others[place]));
    }
  }
  if (!scratch.offered.empty()) {
    merge(node, scratch.offered, scratch.merged);
  }
}

void NeighbourCandidates::merge(uint32_t node, std::vector<Candidate>& offered,
                                std::vector<Candidate>& merged) {
  if (offered.size() > capacity_) {
    const auto middle = offered.begin() + static_cast<std::ptrdiff_t>(capacity_);
    std::nth_element(offered.begin(), middle, offered.end());
    offered.erase(middle, offered.end());
  }
  std::sort(offered.begin(), offered.end());
  const auto kept = of(node);
  merged.clear();
  std::set_union(kept.begin(), kept.end(), offered.begin(), offered.end(),
                 std::back_inserter(merged));
  const size_t count = std::min(capacity_, merged.size());
  std::copy_n(merged.begin(), count, kept_.begin() + static_cast<std::ptrdiff_t>(node * capacity_));
  counts_[node] = static_cast<uint32_t>(count);
}

}  // namespace sibyl::index
