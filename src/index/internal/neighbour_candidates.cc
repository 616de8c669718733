#include "index/internal/neighbour_candidates.h"

#include <algorithm>
#include <cmath>

#include "simd/matrix_distance.h"

namespace sibyl::index {
namespace {
constexpr size_t kLocks = 4096;
constexpr Candidate kNobody = UINT64_MAX;
}  // namespace

NeighbourCandidates::NeighbourCandidates(size_t nodes, size_t near, size_t cells)
    : near_max_(near),
      cells_(cells),
      near_counts_(nodes),
      near_(nodes * near),
      far_(nodes * cells, kNobody),
      locks_(kLocks) {}

void NeighbourCandidates::offer(uint32_t node, std::span<const uint32_t> others,
                                const float* distances, const uint8_t* cells, Scratch& scratch) {
  const std::lock_guard lock(locks_[node % kLocks]);
  offer_near(node, others, distances, scratch);
  offer_cells(node, others, distances, cells);
}

void NeighbourCandidates::offer_near(uint32_t node, std::span<const uint32_t> others,
                                     const float* distances, Scratch& scratch) {
  const bool full = near_counts_[node] == near_max_;
  // The next float up, so that equal distances with a lower number are seen.
  const float farthest = full ? candidate_distance(near_of(node).back()) : HUGE_VALF;
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

void NeighbourCandidates::offer_cells(uint32_t node, std::span<const uint32_t> others,
                                      const float* distances, const uint8_t* cells) {
  Candidate* far = far_.data() + node * cells_;
  for (size_t i = 0; i < others.size(); ++i) {
    const Candidate candidate = make_candidate(distances[i], others[i]);
    if (candidate < far[cells[i]] && others[i] != node) {
      far[cells[i]] = candidate;
    }
  }
}

void NeighbourCandidates::collect(uint32_t node, std::vector<Candidate>& out) const {
  const auto near = near_of(node);
  out.assign(near.begin(), near.end());
  for (const Candidate candidate : std::span(far_).subspan(node * cells_, cells_)) {
    if (candidate != kNobody) {
      out.push_back(candidate);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

void NeighbourCandidates::merge(uint32_t node, std::vector<Candidate>& offered,
                                std::vector<Candidate>& merged) {
  if (offered.size() > near_max_) {
    const auto middle = offered.begin() + static_cast<std::ptrdiff_t>(near_max_);
    std::nth_element(offered.begin(), middle, offered.end());
    offered.erase(middle, offered.end());
  }
  std::sort(offered.begin(), offered.end());
  const auto kept = near_of(node);
  merged.clear();
  std::set_union(kept.begin(), kept.end(), offered.begin(), offered.end(),
                 std::back_inserter(merged));
  const size_t count = std::min(near_max_, merged.size());
  std::copy_n(merged.begin(), count, near_.begin() + static_cast<std::ptrdiff_t>(node * near_max_));
  near_counts_[node] = static_cast<uint32_t>(count);
}

}  // namespace sibyl::index
