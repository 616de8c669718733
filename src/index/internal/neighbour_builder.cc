#include "index/internal/neighbour_builder.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "index/internal/neighbour_directions.h"
#include "index/internal/neighbour_leaves.h"
#include "index/internal/neighbour_link.h"
#include "index/internal/neighbour_nets.h"
#include "index/internal/neighbour_prune.h"
#include "index/internal/neighbour_repair.h"
#include "index/internal/neighbour_walk.h"
#include "simd/matrix_distance.h"

namespace sibyl::index {
namespace {

constexpr size_t kDimensionMax = 32'768;
constexpr size_t kDegreeMax = 1'024;
constexpr size_t kBlock = 256;

/// Looking at a node in one more leaf costs the same at any length, and the products of the leaf
/// grow with it: long vectors lie in more and smaller leaves, of which each node then sees as many
/// others.
PartitionSettings partition_of(size_t dimension, uint64_t seed) {
  constexpr size_t kLongFrom = 192;
  constexpr size_t kLeafFloats = size_t{8} << 20U;  // a leaf's panels stay at 32 MiB
  const bool is_long = dimension >= kLongFrom;
  PartitionSettings settings;
  settings.leaf_max = std::clamp<size_t>(kLeafFloats / dimension, 256, is_long ? 512 : 1024);
  settings.copies = is_long ? 32 : 12;
  settings.leaves_per_group = is_long ? 12 : 1;
  settings.seed = seed;
  return settings;
}

/// The nearest of a node that are kept beside those in each cell of directions.
size_t near_max(const NeighbourGraphSettings& settings) {
  return settings.degree;
}

Result<void> choose_from_candidates(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                                    const NeighbourCandidates& candidates, double share,
                                    NeighbourWork& work, NeighbourEdges& edges) {
  return work.for_blocks(nodes.size(), kBlock, share,
                         [&](size_t first, size_t last, size_t /*worker*/) {
                           NeighbourPruner pruner(space);
                           std::vector<Candidate> all;
                           for (const uint32_t node : nodes.subspan(first, last - first)) {
                             candidates.collect(node, all);
                             edges.set(node, pruner.choose(all, edges.degree()));
                           }
                         });
}

}  // namespace

Result<void> check_neighbour_input(std::span<const float> vectors, size_t dimension,
                                   const NeighbourGraphSettings& settings) {
  if (settings.degree == 0 || settings.degree % 32 != 0 || settings.degree > kDegreeMax) {
    return fail_field(Code::InvalidArgument, "degree",
                      "degree is {}; a multiple of 32 up to {} is right", settings.degree,
                      kDegreeMax);
  }
  if (dimension == 0 || dimension > kDimensionMax) {
    return fail_field(Code::InvalidArgument, "dimension", "dimension is {}; 1 to {} is right",
                      dimension, kDimensionMax);
  }
  if (vectors.size() % dimension != 0) {
    return fail_field(Code::InvalidArgument, "vectors",
                      "{} numbers are not whole vectors of dimension {}", vectors.size(),
                      dimension);
  }
  if (vectors.size() / dimension >= NeighbourGraph::kNone) {
    return fail_field(Code::TooLarge, "vectors", "{} vectors; at most {} have numbers of 32 bits",
                      vectors.size() / dimension, NeighbourGraph::kNone - 1);
  }
  const auto wrong = std::find_if(vectors.begin(), vectors.end(),
                                  [](float value) { return !std::isfinite(value); });
  if (wrong != vectors.end()) {
    const auto at = static_cast<size_t>(wrong - vectors.begin());
    return fail_field(Code::InvalidArgument, "vectors",
                      "vector {} has a number at place {} that is not finite", at / dimension,
                      at % dimension);
  }
  return {};
}

uint64_t neighbour_build_bytes(size_t count, size_t dimension,
                               const NeighbourGraphSettings& settings) {
  const size_t degree = settings.degree;
  const PartitionSettings partition = partition_of(dimension, settings.seed);
  const size_t leaves =
      count * (4 * partition.copies * sizeof(uint32_t) + NeighbourDirections::bytes_per_node());
  const size_t shared =
      count * (NeighbourSpace::bytes_per_vector() + 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)) +
      NeighbourCandidates::bytes(count, near_max(settings), NeighbourDirections::cells(degree)) +
      NeighbourEdges::bytes(count, degree);
  const size_t peak = std::max(
      {leaves, link_back_bytes(count, degree), net_bytes(count, degree), repair_bytes(count)});
  const size_t per_worker =
      leaf_bytes(std::min(count, partition.leaf_max), dimension) + NeighbourWalk::bytes(count);
  return shared + peak + uint64_t{std::max(1U, settings.threads)} * per_worker;
}

Result<void> check_neighbour_memory(size_t count, size_t dimension,
                                    const NeighbourGraphSettings& settings) {
  const uint64_t needed = neighbour_build_bytes(count, dimension, settings);
  if (settings.memory_bytes_max > 0 && needed > settings.memory_bytes_max) {
    return fail(Code::TooLarge,
                "building the graph of {} vectors of dimension {} needs {} bytes beside them, and "
                "{} are allowed; allow more memory or build fewer vectors together",
                count, dimension, needed, settings.memory_bytes_max);
  }
  return {};
}

uint32_t middle_node(const NeighbourSpace& space, std::span<const uint32_t> nodes) {
  std::vector<double> sums(space.dimension());
  for (const uint32_t node : nodes) {
    const float* vector = space.vector(node);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] += vector[i];
    }
  }
  uint32_t best = nodes[0];
  double least = HUGE_VAL;
  for (const uint32_t node : nodes) {
    const float* vector = space.vector(node);
    double distance = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      const double apart = vector[i] - sums[i] / static_cast<double>(nodes.size());
      distance += apart * apart;
    }
    if (distance < least) {
      least = distance;
      best = node;
    }
  }
  return best;
}

Result<void> connect_nodes(const NeighbourSpace& space, std::span<const uint32_t> nodes,
                           const NeighbourGraphSettings& settings, double sides, double share,
                           NeighbourWork& work, NeighbourEdges& edges) {
  const size_t cells = NeighbourDirections::cells(settings.degree);
  NeighbourCandidates candidates(space.count(), near_max(settings), cells);
  {
    PartitionSettings partition = partition_of(space.dimension(), settings.seed);
    partition.copies =
        static_cast<size_t>(std::ceil(sides * static_cast<double>(partition.copies)));
    auto leaves = partition_neighbours(space, nodes, partition, share * 0.15, work);
    if (!leaves) {
      return pass_on(leaves);
    }
    NeighbourDirections directions(space, cells, settings.seed);
    if (auto done = directions.place(space, nodes, share * 0.01, work); !done) {
      return done;
    }
    if (auto done = compare_leaves(space, *leaves, directions, share * 0.25, work, candidates);
        !done) {
      return done;
    }
  }
  if (auto done = choose_from_candidates(space, nodes, candidates, share * 0.19, work, edges);
      !done) {
    return done;
  }
  return link_back(space, nodes, share * 0.4, work, edges);
}

NeighbourGraph finish_graph(const NeighbourEdges& edges, uint32_t entry) {
  NeighbourGraph graph;
  graph.degree = static_cast<uint32_t>(edges.degree());
  graph.entry = entry;
  graph.neighbours.assign(edges.nodes() * edges.degree(), NeighbourGraph::kNone);
  for (uint32_t node = 0; node < edges.nodes(); ++node) {
    const auto row = edges.of(node);
    std::transform(row.begin(), row.end(),
                   graph.neighbours.begin() + static_cast<std::ptrdiff_t>(node * edges.degree()),
                   candidate_node);
  }
  return graph;
}

}  // namespace sibyl::index
