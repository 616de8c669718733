#include "index/internal/neighbour_extension.h"

#include <algorithm>

#include "index/internal/neighbour_builder.h"
#include "index/internal/neighbour_link.h"
#include "index/internal/neighbour_measure.h"
#include "index/internal/neighbour_prune.h"
#include "index/internal/neighbour_walk.h"

namespace sibyl::index {
namespace {

constexpr size_t kBlock = 256;
// Width of the search for a new node's neighbours, in degrees.
constexpr size_t kWidthPerDegree = 2;
// Leaves that a new node lies in. Most of its neighbours are older and come from the search.
constexpr double kSides = 0.3;
// So many of the nearest neighbours of a node that is gone stand in for it; a row chooses from
// kChoicesPerDegree degrees at most.
constexpr size_t kHeirs = 10;
constexpr size_t kChoicesPerDegree = 3;

constexpr uint32_t kNone = NeighbourGraph::kNone;

/// The representative of every node.
std::vector<uint32_t> representatives(const NeighbourDuplicates& duplicates, size_t count) {
  std::vector<uint32_t> found(count);
  for (uint32_t node = 0; node < count; ++node) {
    found[node] = node;
  }
  for (size_t i = 0; i < duplicates.classes(); ++i) {
    for (const uint32_t node : duplicates.of(i)) {
      found[node] = duplicates.of(i).front();
    }
  }
  return found;
}

/// The nodes that a row of the old graph now means.
class OldRow {
 public:
  OldRow(const NeighbourGraph& old, const NodeMoves& moves,
         std::span<const uint32_t> representative)
      : old_(old), moves_(moves), representative_(representative) {}

  /// Fills `nodes`; where a neighbour is gone, its own neighbours stand in for it.
  void collect(uint32_t old_node, size_t nodes_max, std::vector<uint32_t>& nodes) const {
    nodes.clear();
    for (const uint32_t neighbour : old_.of(old_node)) {
      if (neighbour == kNone) {
        break;
      }
      add(neighbour, nodes);
    }
    for (const uint32_t neighbour : old_.of(old_node)) {
      if (neighbour == kNone || nodes.size() >= nodes_max) {
        break;
      }
      if (moves_.new_of[neighbour] == kNone) {
        for (const uint32_t beyond :
             old_.of(neighbour).first(std::min<size_t>(kHeirs, old_.degree))) {
          if (beyond != kNone) {
            add(beyond, nodes);
          }
        }
      }
    }
  }

 private:
  void add(uint32_t old_node, std::vector<uint32_t>& nodes) const {
    if (moves_.new_of[old_node] != kNone) {
      nodes.push_back(representative_[moves_.new_of[old_node]]);
    }
  }

  const NeighbourGraph& old_;
  const NodeMoves& moves_;
  std::span<const uint32_t> representative_;
};

}  // namespace

NodeMoves::NodeMoves(const RowSet& removed, size_t old_count) : new_of(old_count, kNone) {
  for (uint32_t node = 0; node < old_count; ++node) {
    if (!removed.contains(node)) {
      new_of[node] = static_cast<uint32_t>(old_of.size());
      old_of.push_back(node);
    }
  }
}

Result<void> mend_rows(const NeighbourSpace& space, const NeighbourGraph& old,
                       const NodeMoves& moves, const NeighbourDuplicates& duplicates, double share,
                       NeighbourWork& work, NeighbourEdges& edges) {
  const auto representative = representatives(duplicates, space.count());
  const OldRow row(old, moves, representative);
  return work.for_blocks(
      moves.old_of.size(), kBlock, share, [&](size_t first, size_t last, size_t /*worker*/) {
        NeighbourPruner pruner(space);
        NeighbourMeasure measure(space);
        std::vector<uint32_t> nodes;
        for (auto node = static_cast<uint32_t>(first); node < last; ++node) {
          if (representative[node] != node) {
            continue;
          }
          row.collect(moves.old_of[node], kChoicesPerDegree * edges.degree(), nodes);
          edges.set(node, pruner.choose(measure.from(node, nodes), edges.degree()));
        }
      });
}

Result<void> add_rows(const NeighbourSpace& space, std::span<const uint32_t> added, uint32_t entry,
                      const NeighbourGraphSettings& settings, double share, NeighbourWork& work,
                      NeighbourEdges& edges) {
  NeighbourEdges among(edges.nodes(), edges.degree());
  if (auto done = connect_nodes(space, added, settings, kSides, share * 0.2, work, among); !done) {
    return done;
  }
  std::vector<NeighbourWalk> walks(work.workers(), NeighbourWalk(space, edges.nodes()));
  const size_t width = kWidthPerDegree * edges.degree();
  auto done = work.for_blocks(
      added.size(), kBlock, share * 0.5, [&](size_t first, size_t last, size_t worker) {
        NeighbourPruner pruner(space);
        NeighbourMeasure measure(space);
        std::vector<uint32_t> nodes;
        for (const uint32_t node : added.subspan(first, last - first)) {
          nodes.clear();
          walks[worker].towards(edges, entry, node, width);
          for (const Candidate near : walks[worker].nearest()) {
            nodes.push_back(candidate_node(near));
          }
          for (const Candidate near : among.of(node)) {
            nodes.push_back(candidate_node(near));
          }
          among.set(node, pruner.choose(measure.from(node, nodes), edges.degree()));
        }
      });
  if (!done) {
    return done;
  }
  return link_added(space, added, among, share * 0.3, work, edges);
}

}  // namespace sibyl::index
