#include "index/internal/neighbour_nets.h"

#include <algorithm>

#include "index/internal/neighbour_builder.h"
#include "index/internal/neighbour_prune.h"

namespace sibyl::index {
namespace {

constexpr size_t kLevels = 2;
// Of a node's places those that each level takes.
constexpr size_t kPlacesShare = 4;
// Leaves that a node of a net lies in: its links need not be the very nearest.
constexpr double kSides = 0.5;
// The nearest of so few nodes reach everywhere.
constexpr size_t kNodesPerDegree = 3;

/// Adds what `among` offers each node of a level to its far links; `far` has a row for each node of
/// the first net.
void add_far(const NeighbourSpace& space, std::span<const uint32_t> first_net,
             std::span<const uint32_t> net, const NeighbourEdges& among, NeighbourEdges& far) {
  NeighbourPruner pruner(space);
  std::vector<Candidate> row;
  for (const uint32_t node : net) {
    const auto place = static_cast<uint32_t>(
        std::lower_bound(first_net.begin(), first_net.end(), node) - first_net.begin());
    const auto chosen = pruner.choose(among.of(node), among.degree() / kPlacesShare);
    const auto before = far.of(place);
    row.clear();
    std::set_union(before.begin(), before.end(), chosen.begin(), chosen.end(),
                   std::back_inserter(row));
    far.set(place, row);
  }
}

/// Gives the far links their places, in exchange for what the others make dispensable.
void take_places(const NeighbourSpace& space, std::span<const uint32_t> net,
                 const NeighbourEdges& far, NeighbourEdges& edges) {
  NeighbourPruner pruner(space);
  std::vector<Candidate> near;
  std::vector<Candidate> row;
  for (uint32_t i = 0; i < net.size(); ++i) {
    const auto own = edges.of(net[i]);
    const auto links = far.of(i);
    near.clear();
    std::set_difference(own.begin(), own.end(), links.begin(), links.end(),
                        std::back_inserter(near));
    const auto kept = pruner.choose(near, edges.degree() - links.size());
    row.clear();
    std::merge(kept.begin(), kept.end(), links.begin(), links.end(), std::back_inserter(row));
    edges.set(net[i], row);
  }
}

}  // namespace

std::vector<uint32_t> net_of(std::span<const uint32_t> nodes, const NeighbourEdges& edges) {
  std::vector<bool> taken(edges.nodes());
  std::vector<uint32_t> net;
  for (const uint32_t node : nodes) {
    const auto row = edges.of(node);
    const bool covered = std::any_of(row.begin(), row.end(),
                                     [&](Candidate edge) { return taken[candidate_node(edge)]; });
    if (!covered) {
      taken[node] = true;
      net.push_back(node);
    }
  }
  return net;
}

Result<void> link_nets(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                       const NeighbourGraphSettings& settings, double share, NeighbourWork& work,
                       NeighbourEdges& edges) {
  if (nodes.size() <= kNodesPerDegree * edges.degree()) {
    return {};
  }
  const std::vector<uint32_t> first_net = net_of(nodes, edges);
  NeighbourEdges far(first_net.size(), edges.degree() / kPlacesShare * kLevels);
  {
    NeighbourEdges among(edges.nodes(), edges.degree());
    std::vector<uint32_t> net = first_net;
    for (size_t level = 0; level < kLevels && net.size() > 1; ++level) {
      const double part = share / static_cast<double>(kLevels);
      if (auto done = connect_nodes(space, net, settings, kSides, part, work, among); !done) {
        return done;
      }
      add_far(space, first_net, net, among, far);
      net = net_of(net, among);
    }
  }
  take_places(space, first_net, far, edges);
  return {};
}

size_t net_bytes(size_t nodes, size_t degree) {
  return NeighbourEdges::bytes(nodes, degree) + nodes * (3 * sizeof(uint32_t)) +
         NeighbourEdges::bytes(nodes, degree / kPlacesShare * kLevels);
}

}  // namespace sibyl::index
