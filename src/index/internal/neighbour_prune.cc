#include "index/internal/neighbour_prune.h"

#include <algorithm>
#include <limits>

namespace sibyl::index {
void NeighbourPruner::compare(std::span<const Candidate> candidates) {
  nodes_.resize(candidates.size());
  std::transform(candidates.begin(), candidates.end(), nodes_.begin(), candidate_node);
  packed_.pack(space_, nodes_);
  stride_ = packed_.norms.size();
  distances_.resize(stride_ * stride_);
  for (size_t panel = 0; panel < packed_.panel_count(); ++panel) {
    packed_.distances_of_panel(panel, packed_, panel,
                               distances_.data() + panel * simd::kPanelRows * stride_);
  }
}

void NeighbourPruner::take(size_t place) {
  taken_.push_back(place);
  is_taken_[place] = true;
}

void NeighbourPruner::take_uncovered(std::span<const Candidate> candidates, size_t degree) {
  for (size_t i = 0; i < candidates.size() && taken_.size() < degree; ++i) {
    const float reach = candidate_distance(candidates[i]);
    const bool is_covered = std::any_of(taken_.begin(), taken_.end(),
                                        [&](size_t other) { return distance(i, other) <= reach; });
    if (!is_covered) {
      take(i);
    }
  }
}

void NeighbourPruner::take_least_covered(std::span<const Candidate> candidates, size_t degree) {
  nearest_.assign(candidates.size(), std::numeric_limits<float>::infinity());
  size_t compared = 0;
  while (taken_.size() < degree) {
    for (; compared < taken_.size(); ++compared) {
      const size_t other = taken_[compared];
      for (size_t i = 0; i < other; ++i) {
        nearest_[i] = std::min(nearest_[i], distances_[i * stride_ + other]);
      }
      for (size_t i = other; i < candidates.size(); ++i) {
        nearest_[i] = std::min(nearest_[i], distances_[other * stride_ + i]);
      }
    }
    size_t best = candidates.size();
    for (size_t i = 0; i < candidates.size(); ++i) {
      // Ratios compared without a division, so that nothing is divided by zero.
      if (!is_taken_[i] &&
          (best == candidates.size() || candidate_distance(candidates[i]) * nearest_[best] <
                                            candidate_distance(candidates[best]) * nearest_[i])) {
        best = i;
      }
    }
    take(best);
  }
}

std::span<const Candidate> NeighbourPruner::choose(std::span<const Candidate> candidates,
                                                   size_t degree) {
  chosen_.clear();
  if (candidates.size() <= degree) {
    chosen_.assign(candidates.begin(), candidates.end());
    return chosen_;
  }
  compare(candidates);
  taken_.clear();
  is_taken_.assign(candidates.size(), false);
  take_uncovered(candidates, degree);
  take_least_covered(candidates, degree);
  std::sort(taken_.begin(), taken_.end());
  for (const size_t i : taken_) {
    chosen_.push_back(candidates[i]);
  }
  return chosen_;
}

}  // namespace sibyl::index
