#include "index/internal/neighbour_repair.h"

#include <algorithm>
#include <vector>

#include "index/internal/neighbour_walk.h"

namespace sibyl::index {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kWalkWidth = 32;

/// A tree over what is reached. Its edges stay, so what was reached remains so.
class Reach {
 public:
  Reach(const NeighbourSpace& space, NeighbourEdges& edges, uint32_t entry)
      : edges_(edges), walk_(space, edges.nodes()), parent_(edges.nodes(), kNone), entry_(entry) {
    spread(entry, entry);
  }

  bool reached(uint32_t node) const { return parent_[node] != kNone; }

  /// Gives `node` an edge from the nearest reached node that has a place for it.
  void attach(uint32_t node) {
    walk_.towards(edges_, entry_, node, kWalkWidth);
    for (const Candidate near : walk_.nearest()) {
      if (try_edge(candidate_node(near), node, candidate_distance(near))) {
        return;
      }
    }
    // Fewer edges of the tree than nodes, so some reached node has a place; none is passed twice,
    // since places only get fewer.
    while (!try_edge(order_[full_], node, kFarAway)) {
      ++full_;
    }
  }

 private:
  // Only when all the near ones are full, so its order in the row matters little.
  static constexpr float kFarAway = 3e38F;

  void spread(uint32_t node, uint32_t from) {
    parent_[node] = from;
    for (size_t next = order_.size(), end = (order_.push_back(node), order_.size()); next < end;
         ++next, end = order_.size()) {
      for (const Candidate edge : edges_.of(order_[next])) {
        const uint32_t to = candidate_node(edge);
        if (!reached(to)) {
          parent_[to] = order_[next];
          order_.push_back(to);
        }
      }
    }
  }

  bool try_edge(uint32_t from, uint32_t to, float distance) {
    const auto own = edges_.of(from);
    row_.assign(own.begin(), own.end());
    if (row_.size() == edges_.degree()) {
      const auto spare = std::find_if(row_.rbegin(), row_.rend(), [&](Candidate edge) {
        return parent_[candidate_node(edge)] != from;
      });
      if (spare == row_.rend()) {
        return false;
      }
      row_.erase(std::next(spare).base());
    }
    const Candidate added = make_candidate(distance, to);
    row_.insert(std::lower_bound(row_.begin(), row_.end(), added), added);
    edges_.set(from, row_);
    spread(to, from);
    return true;
  }

  NeighbourEdges& edges_;
  NeighbourWalk walk_;
  std::vector<uint32_t> parent_;  ///< kNone: not reached.
  uint32_t entry_;
  std::vector<uint32_t> order_;  ///< Reached nodes.
  size_t full_ = 0;              ///< order_ before this has no place left.
  std::vector<Candidate> row_;
};

}  // namespace

size_t repair_bytes(size_t nodes) {
  return 2 * nodes * sizeof(uint32_t) + NeighbourWalk::bytes(nodes);
}

void repair_reachability(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                         uint32_t entry, NeighbourEdges& edges) {
  Reach reach(space, edges, entry);
  for (const uint32_t node : nodes) {
    if (!reach.reached(node)) {
      reach.attach(node);
    }
  }
}

}  // namespace sibyl::index
