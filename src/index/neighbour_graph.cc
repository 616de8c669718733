#include "index/neighbour_graph.h"

#include <numeric>

#include "index/internal/neighbour_builder.h"
#include "index/internal/neighbour_link.h"
#include "index/internal/neighbour_repair.h"

namespace sibyl::index {

Result<NeighbourGraph> build_neighbour_graph(std::span<const float> vectors, size_t dimension,
                                             const NeighbourGraphSettings& settings,
                                             const BuildProgress& progress) {
  if (auto checked = check_neighbour_input(vectors, dimension, settings); !checked) {
    return pass_on(checked);
  }
  const size_t count = vectors.size() / dimension;
  if (auto checked = check_neighbour_memory(count, dimension, settings); !checked) {
    return pass_on(checked);
  }
  NeighbourEdges edges(count, settings.degree);
  if (count == 0) {
    return finish_graph(edges, 0);
  }
  NeighbourWork work(settings.threads, progress);
  const NeighbourSpace space(vectors, dimension, settings.metric);
  std::vector<uint32_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), 0U);
  const NeighbourDuplicates duplicates = find_duplicates(space, nodes);
  const uint32_t entry = middle_node(space, duplicates.distinct);
  if (auto done = connect_nodes(space, duplicates.distinct, settings, 0.99, work, edges); !done) {
    return pass_on(done);
  }
  hang_duplicates(space, duplicates, edges);
  repair_reachability(space, nodes, entry, edges);
  if (auto done = work.finish(); !done) {
    return pass_on(done);
  }
  return finish_graph(edges, entry);
}

}  // namespace sibyl::index
