#include "index/internal/neighbour_link.h"

#include <algorithm>
#include <vector>

#include "index/internal/neighbour_prune.h"

namespace sibyl::index {
namespace {

// Nodes in the middle are pointed at by thousands; the nearest of those are enough to choose from.
constexpr size_t kBackwardMaxPerDegree = 3;
constexpr size_t kBlock = 256;

/// For each node those that point at it, [first[node], first[node + 1]).
struct Backward {
  std::vector<size_t> first;
  std::vector<Candidate> edges;
};

Backward turn_around(const NeighbourEdges& edges) {
  Backward backward;
  backward.first.resize(edges.nodes() + 2);
  for (uint32_t node = 0; node < edges.nodes(); ++node) {
    for (const Candidate edge : edges.of(node)) {
      ++backward.first[candidate_node(edge) + 2];
    }
  }
  for (size_t i = 2; i < backward.first.size(); ++i) {
    backward.first[i] += backward.first[i - 1];
  }
  backward.edges.resize(backward.first.back());
  for (uint32_t node = 0; node < edges.nodes(); ++node) {
    for (const Candidate edge : edges.of(node)) {
      backward.edges[backward.first[candidate_node(edge) + 1]++] =
          make_candidate(candidate_distance(edge), node);
    }
  }
  return backward;
}

/// Gives each of `nodes` what points at it as candidates beside its own neighbours.
Result<void> choose_with(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                         Backward& backward, double share, NeighbourWork& work,
                         NeighbourEdges& edges) {
  const size_t candidates_max = kBackwardMaxPerDegree * edges.degree();
  return work.for_blocks(
      nodes.size(), kBlock, share, [&](size_t first, size_t last, size_t /*worker*/) {
        NeighbourPruner pruner(space);
        std::vector<Candidate> candidates;
        for (const uint32_t node : nodes.subspan(first, last - first)) {
          const auto back =
              std::span(backward.edges)
                  .subspan(backward.first[node], backward.first[node + 1] - backward.first[node]);
          std::sort(back.begin(), back.end());
          const auto own = edges.of(node);
          candidates.clear();
          std::set_union(own.begin(), own.end(), back.begin(), back.end(),
                         std::back_inserter(candidates));
          candidates.resize(std::min(candidates.size(), candidates_max));
          edges.set(node, pruner.choose(candidates, edges.degree()));
        }
      });
}

}  // namespace

size_t link_back_bytes(size_t nodes, size_t degree) {
  return nodes * (sizeof(size_t) + degree * sizeof(Candidate));
}

Result<void> link_back(const NeighbourSpace& space, std::span<const uint32_t> nodes, double share,
                       NeighbourWork& work, NeighbourEdges& edges) {
  Backward backward = turn_around(edges);
  return choose_with(space, nodes, backward, share, work, edges);
}

Result<void> link_added(const NeighbourSpace& space, std::span<const uint32_t> added,
                        const NeighbourEdges& rows, double share, NeighbourWork& work,
                        NeighbourEdges& edges) {
  Backward backward = turn_around(rows);
  for (const uint32_t node : added) {
    edges.set(node, rows.of(node));
  }
  std::vector<uint32_t> touched;
  for (uint32_t node = 0; node < edges.nodes(); ++node) {
    if (backward.first[node + 1] > backward.first[node]) {
      touched.push_back(node);
    }
  }
  return choose_with(space, touched, backward, share, work, edges);
}

void hang_duplicates(const NeighbourSpace& space, const NeighbourDuplicates& duplicates,
                     NeighbourEdges& edges) {
  constexpr size_t kChildren = NeighbourDuplicates::kChildrenMax;
  NeighbourPruner pruner(space);
  std::vector<Candidate> row;
  for (size_t i = 0; i < duplicates.classes(); ++i) {
    const auto nodes = duplicates.of(i);
    const auto own = edges.of(nodes[0]);
    const std::vector<Candidate> around(own.begin(), own.end());
    for (size_t at = 0; at < nodes.size(); ++at) {
      row.clear();
      if (at > 0) {
        row.push_back(make_candidate(0, nodes[(at - 1) / kChildren]));
      }
      for (size_t child = at * kChildren + 1;
           child < std::min(nodes.size(), (at + 1) * kChildren + 1); ++child) {
        row.push_back(make_candidate(0, nodes[child]));
      }
      const auto chosen = pruner.choose(around, edges.degree() - row.size());
      row.insert(row.end(), chosen.begin(), chosen.end());
      std::sort(row.begin(), row.end());
      edges.set(nodes[at], row);
    }
  }
}

}  // namespace sibyl::index
