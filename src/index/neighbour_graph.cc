#include "index/neighbour_graph.h"

#include <algorithm>
#include <numeric>

#include "index/internal/neighbour_builder.h"
#include "index/internal/neighbour_extension.h"
#include "index/internal/neighbour_link.h"
#include "index/internal/neighbour_nets.h"
#include "index/internal/neighbour_repair.h"

namespace sibyl::index {
namespace {

// Of all progress; the rest is the last step, which is short.
constexpr double kBuildShare = 0.92;
constexpr double kNetShare = 0.07;

Result<void> check_request(std::span<const float> vectors, size_t dimension,
                           const NeighbourGraphSettings& settings) {
  if (auto checked = check_neighbour_input(vectors, dimension, settings); !checked) {
    return checked;
  }
  return check_neighbour_memory(vectors.size() / dimension, dimension, settings);
}

Result<void> check_old(const NeighbourGraph& old, const RowSet& removed, size_t count) {
  const size_t old_count = removed.size();
  if (old.degree == 0 || old.neighbours.size() != old_count * old.degree) {
    return fail_field(Code::InvalidArgument, "old",
                      "a graph of {} numbers with {} a node is not one of the {} nodes that "
                      "removed tells of",
                      old.neighbours.size(), old.degree, old_count);
  }
  if (old_count - removed.count() > count) {
    return fail_field(Code::InvalidArgument, "vectors",
                      "{} vectors are fewer than the {} nodes that are kept", count,
                      old_count - removed.count());
  }
  const auto wrong =
      std::find_if(old.neighbours.begin(), old.neighbours.end(), [&](uint32_t neighbour) {
        return neighbour != NeighbourGraph::kNone && neighbour >= old_count;
      });
  if (wrong != old.neighbours.end()) {
    return fail_field(Code::InvalidArgument, "old", "neighbour {} is none of {} nodes", *wrong,
                      old_count);
  }
  return {};
}

/// Far links, equal vectors, reachability, and the form that is given out.
Result<NeighbourGraph> complete(const NeighbourSpace& space, const NeighbourDuplicates& duplicates,
                                const NeighbourGraphSettings& settings, uint32_t entry,
                                NeighbourWork& work, NeighbourEdges& edges) {
  if (auto done = link_nets(space, duplicates.distinct, settings, kNetShare, work, edges); !done) {
    return pass_on(done);
  }
  hang_duplicates(space, duplicates, edges);
  std::vector<uint32_t> nodes(space.count());
  std::iota(nodes.begin(), nodes.end(), 0U);
  repair_reachability(space, nodes, entry, edges);
  if (auto done = work.finish(); !done) {
    return pass_on(done);
  }
  return finish_graph(edges, entry);
}

}  // namespace

Result<NeighbourGraph> build_neighbour_graph(std::span<const float> vectors, size_t dimension,
                                             const NeighbourGraphSettings& settings,
                                             const BuildProgress& progress) {
  if (auto checked = check_request(vectors, dimension, settings); !checked) {
    return pass_on(checked);
  }
  NeighbourEdges edges(vectors.size() / dimension, settings.degree);
  if (edges.nodes() == 0) {
    return finish_graph(edges, 0);
  }
  NeighbourWork work(settings.threads, progress);
  const NeighbourSpace space(vectors, dimension, settings.metric);
  const NeighbourDuplicates duplicates = find_duplicates(space);
  const uint32_t entry = middle_node(space, duplicates.distinct);
  if (auto done =
          connect_nodes(space, duplicates.distinct, settings, kAllSides, kBuildShare, work, edges);
      !done) {
    return pass_on(done);
  }
  return complete(space, duplicates, settings, entry, work, edges);
}

Result<NeighbourGraph> extend_neighbour_graph(const NeighbourGraph& old, const RowSet& removed,
                                              std::span<const float> vectors, size_t dimension,
                                              const NeighbourGraphSettings& settings,
                                              const BuildProgress& progress) {
  if (auto checked = check_request(vectors, dimension, settings); !checked) {
    return pass_on(checked);
  }
  const size_t count = vectors.size() / dimension;
  if (auto checked = check_old(old, removed, count); !checked) {
    return pass_on(checked);
  }
  const NodeMoves moves(removed, removed.size());
  const size_t kept = moves.old_of.size();
  // Where less than half stays, a build is no slower, and its graph is better.
  if (kept < count - kept || kept < removed.size() - kept) {
    return build_neighbour_graph(vectors, dimension, settings, progress);
  }
  NeighbourEdges edges(count, settings.degree);
  if (count == 0) {
    return finish_graph(edges, 0);
  }
  NeighbourWork work(settings.threads, progress);
  const NeighbourSpace space(vectors, dimension, settings.metric);
  const NeighbourDuplicates duplicates = find_duplicates(space);
  const auto added =
      std::span(duplicates.distinct)
          .subspan(static_cast<size_t>(
              std::lower_bound(duplicates.distinct.begin(), duplicates.distinct.end(), kept) -
              duplicates.distinct.begin()));
  const auto stayed =
      std::span(duplicates.distinct).first(duplicates.distinct.size() - added.size());
  const uint32_t entry = middle_node(space, stayed);
  if (auto done = mend_rows(space, old, moves, duplicates, kBuildShare / 2, work, edges); !done) {
    return pass_on(done);
  }
  if (auto done = add_rows(space, added, entry, settings, kBuildShare / 2, work, edges); !done) {
    return pass_on(done);
  }
  return complete(space, duplicates, settings, entry, work, edges);
}

}  // namespace sibyl::index
