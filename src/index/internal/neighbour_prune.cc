#include "index/internal/neighbour_prune.h"

#include <algorithm>

namespace sibyl::index {
namespace {
constexpr float kStrict = 1.0F;
constexpr float kRelaxed = 1.2F;
}  // namespace

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

void NeighbourPruner::take(std::span<const Candidate> candidates, size_t degree, float slack) {
  for (size_t i = 0; i < candidates.size() && taken_.size() < degree; ++i) {
    const float reach = candidate_distance(candidates[i]);
    const bool is_covered =
        is_taken_[i] || std::any_of(taken_.begin(), taken_.end(), [&](size_t other) {
          return slack * distance(i, other) <= reach;
        });
    if (!is_covered) {
      taken_.push_back(i);
      is_taken_[i] = true;
    }
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
  take(candidates, degree, kStrict);
  take(candidates, degree, kRelaxed);
  for (size_t i = 0; i < candidates.size() && taken_.size() < degree; ++i) {
    if (!is_taken_[i]) {
      taken_.push_back(i);
    }
  }
  std::sort(taken_.begin(), taken_.end());
  for (const size_t i : taken_) {
    chosen_.push_back(candidates[i]);
  }
  return chosen_;
}

}  // namespace sibyl::index
