#include "index/internal/neighbour_walk.h"

#include <algorithm>

namespace sibyl::index {

bool NeighbourWalk::see(uint32_t node) {
  const bool is_new = seen_[node] != walk_;
  seen_[node] = walk_;
  return is_new;
}

size_t NeighbourWalk::insert(Candidate candidate, size_t width) {
  if (pool_.size() >= width && candidate >= pool_.back()) {
    return pool_.size();
  }
  const auto place = std::lower_bound(pool_.begin(), pool_.end(), candidate);
  const auto at = place - pool_.begin();
  pool_.insert(place, candidate);
  expanded_.insert(expanded_.begin() + at, false);
  if (pool_.size() > width) {
    pool_.pop_back();
    expanded_.pop_back();
  }
  return static_cast<size_t>(at);
}

void NeighbourWalk::towards(const NeighbourEdges& edges, uint32_t entry, uint32_t target,
                            size_t width) {
  if (++walk_ == 0) {
    std::fill(seen_.begin(), seen_.end(), 0);
    walk_ = 1;
  }
  pool_.assign(1, make_candidate(space_.distance(target, entry), entry));
  expanded_.assign(1, false);
  see(entry);
  for (size_t next = 0; next < pool_.size();) {
    if (expanded_[next]) {
      ++next;
      continue;
    }
    expanded_[next] = true;
    const Candidate here = pool_[next];
    size_t lowest = next;
    for (const Candidate edge : edges.of(candidate_node(here))) {
      const uint32_t node = candidate_node(edge);
      if (see(node)) {
        lowest =
            std::min(lowest, insert(make_candidate(space_.distance(target, node), node), width));
      }
    }
    next = lowest;
  }
}

}  // namespace sibyl::index
