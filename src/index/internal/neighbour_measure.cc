#include "index/internal/neighbour_measure.h"

#include <algorithm>

namespace sibyl::index {

std::span<const Candidate> NeighbourMeasure::from(uint32_t node, std::vector<uint32_t>& others) {
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::erase(others, node);
  here_.pack(space_, std::span(&node, 1));
  packed_.pack(space_, others);
  distances_.resize(simd::kPanelRows * packed_.norms.size());
  here_.distances_of_panel(0, packed_, 0, distances_.data());
  measured_.resize(others.size());
  for (size_t i = 0; i < others.size(); ++i) {
    measured_[i] = make_candidate(distances_[i], others[i]);
  }
  std::sort(measured_.begin(), measured_.end());
  return measured_;
}

}  // namespace sibyl::index
