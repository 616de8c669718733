#include <algorithm>

#include "index/internal/graph_index.h"
#include "index/internal/graph_writer.h"
#include "index/internal/neighbour_builder.h"
#include "index/internal/vector_file.h"

namespace sibyl::index {
namespace {

Result<void> check_settings(const VectorIndex& vectors, const GraphSettings& settings) {
  const uint32_t degree = settings.graph.degree;
  if (degree == 0 || degree > kGraphDegreeMax || degree % simd::kScanLanes != 0) {
    return fail(Code::InvalidArgument,
                "a graph's degree is {} and must be a multiple of {} up to {}", degree,
                simd::kScanLanes, kGraphDegreeMax);
  }
  if (vectors.dimension() == 0 || vectors.dimension() > kVectorDimensionMax) {
    return fail(Code::InvalidArgument, "a graph index of dimension {}; it takes 1 to {}",
                vectors.dimension(), kVectorDimensionMax);
  }
  if (vectors.vectors() > kGraphVectorsMax) {
    return fail(Code::TooLarge, "a graph index of {} vectors; it takes at most {}",
                vectors.vectors(), kGraphVectorsMax);
  }
  return {};
}

Result<void> write_graph(const VectorIndex& vectors, const NeighbourGraph* graph,
                         const GraphMaker& make, const GraphSettings& settings,
                         const ByteSink& sink, const BuildProgress& progress) {
  Result<void> checked = check_settings(vectors, settings);
  if (!checked) {
    return checked;
  }
  const double before = graph == nullptr ? kGraphShare : 0.0;
  const BuildProgress rest = [&](double done) {
    return !progress || progress(before + (1 - before) / (1 - kGraphShare) * done);
  };
  NeighbourWork work(settings.graph.threads, rest);
  return GraphWriter(vectors, settings, work).write(graph, make, progress, sink);
}

}  // namespace

uint64_t graph_build_bytes(const VectorIndex& vectors, const GraphSettings& settings) {
  const uint64_t count = vectors.vectors();
  const uint64_t dimension = vectors.dimension();
  const uint64_t copy = count * dimension * sizeof(float) + (vectors.rows() + 1) * sizeof(uint32_t);
  const uint64_t graph = neighbour_build_bytes(count, dimension, settings.graph);
  const uint64_t neighbours = count * settings.graph.degree * sizeof(uint32_t);
  // At most all axes are coded, and as many groups as are allowed.
  const NodeLayout layout{dimension, settings.graph.degree, settings.compact ? 0 : kGraphGroupsMax};
  const uint64_t heads = settings.compact ? 0 : std::min<uint64_t>(dimension, 4 * kGraphGroupsMax);
  const uint64_t encoding = neighbours + count * (layout.bytes() + heads * sizeof(float));
  return copy + std::max(graph, encoding);
}

Result<void> write_graph_index(const VectorIndex& vectors, const GraphSettings& settings,
                               const ByteSink& sink, const BuildProgress& progress) {
  const GraphMaker build = [&](std::span<const float> all, const BuildProgress& share) {
    return build_neighbour_graph(all, vectors.dimension(), settings.graph, share);
  };
  return write_graph(vectors, nullptr, build, settings, sink, progress);
}

Result<void> extend_graph_index(const VectorIndex& old, const RowSet& removed,
                                const VectorIndex& vectors, const GraphSettings& settings,
                                const ByteSink& sink, const BuildProgress& progress) {
  const auto* index = dynamic_cast<const GraphIndex*>(&old);
  if (index == nullptr) {
    return fail(Code::InvalidArgument, "an index of kind '{}' has no graph to be extended",
                old.kind());
  }
  Result<NeighbourGraph> graph = index->neighbour_graph();
  if (!graph) {
    return pass_on(graph);
  }
  if (graph->degree != settings.graph.degree) {
    return fail(Code::InvalidArgument, "the graph has degree {}; it cannot be extended to {}",
                graph->degree, settings.graph.degree);
  }
  const GraphMaker extend = [&](std::span<const float> all, const BuildProgress& share) {
    return extend_neighbour_graph(*graph, removed, all, vectors.dimension(), settings.graph, share);
  };
  return write_graph(vectors, nullptr, extend, settings, sink, progress);
}

Result<void> write_graph_index_of(const VectorIndex& vectors, const NeighbourGraph& graph,
                                  const GraphSettings& settings, const ByteSink& sink,
                                  const BuildProgress& progress) {
  const size_t count = vectors.vectors();
  bool fits = graph.degree == settings.graph.degree &&
              graph.neighbours.size() == count * graph.degree &&
              (count == 0 || graph.entry < count);
  for (size_t i = 0; fits && i < graph.neighbours.size(); ++i) {
    fits = graph.neighbours[i] < count || graph.neighbours[i] == NeighbourGraph::kNone;
  }
  if (!fits) {
    return fail(Code::InvalidArgument,
                "the neighbour graph does not fit: {} vectors and degree {} need {} neighbours, "
                "each below the number of vectors, and an entry; it has {} and degree {}",
                count, settings.graph.degree, count * settings.graph.degree,
                graph.neighbours.size(), graph.degree);
  }
  return write_graph(vectors, &graph, {}, settings, sink, progress);
}

}  // namespace sibyl::index
