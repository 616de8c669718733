#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/result.h"
#include "index/neighbour_graph.h"
#include "index/vector_index.h"

// Index files that are made from vectors which lie elsewhere, and can be made again: flat codes and
// the graph. `vectors` holds the full vectors (of one segment, or of several laid end to end) and
// outlives what is opened over it; it re-ranks what the codes found, so answers carry exact scores.

namespace sibyl::index {

struct FlatSettings {
  Metric metric = Metric::kInnerProduct;
  uint64_t seed = 1;
  unsigned threads = 1;
  uint64_t memory_bytes_max = 0;  ///< As NeighbourGraphSettings.
};

/// Packed codes of every vector, searched whole by FastScan (docs/formats/flat-index.md).
Result<void> write_flat_index(const VectorIndex& vectors, const FlatSettings& settings,
                              const ByteSink& sink, const BuildProgress& progress = {});
/// Memory that making it takes at its height.
uint64_t flat_build_bytes(const VectorIndex& vectors);
/// DataLoss with the path when the file is damaged or was made from other vectors. With `later` the
/// codes are not checked, as check_container will: until then they may lead to wrong rows, and to
/// nothing worse.
Result<std::unique_ptr<VectorIndex>> open_flat_index(std::shared_ptr<const base::FileView> file,
                                                     const std::string& path,
                                                     std::shared_ptr<const VectorIndex> vectors,
                                                     bool later = false);

struct GraphSettings {
  NeighbourGraphSettings graph;
  /// Smaller codes and nodes: at most 0.6 x of what hnswlib keeps resident.
  bool compact = false;
};

/// Fixed-degree graph with the neighbours' codes in each node (docs/formats/graph-index.md).
Result<void> write_graph_index(const VectorIndex& vectors, const GraphSettings& settings,
                               const ByteSink& sink, const BuildProgress& progress = {});
/// The same over a graph that is there, of settings.graph.degree. InvalidArgument when it does not
/// fit the vectors.
Result<void> write_graph_index_of(const VectorIndex& vectors, const NeighbourGraph& graph,
                                  const GraphSettings& settings, const ByteSink& sink,
                                  const BuildProgress& progress = {});
/// The same over the graph of an opened graph index, extended to `vectors` (see
/// extend_neighbour_graph): `removed` are those of its vectors that are gone. InvalidArgument when
/// `old` is no graph of settings.graph.degree, or does not fit.
Result<void> extend_graph_index(const VectorIndex& old, const RowSet& removed,
                                const VectorIndex& vectors, const GraphSettings& settings,
                                const ByteSink& sink, const BuildProgress& progress = {});
/// As flat_build_bytes; the vectors are counted as if they had to be copied.
uint64_t graph_build_bytes(const VectorIndex& vectors, const GraphSettings& settings);
/// As open_flat_index; it is the nodes that are not checked with `later`.
Result<std::unique_ptr<VectorIndex>> open_graph_index(std::shared_ptr<const base::FileView> file,
                                                      const std::string& path,
                                                      std::shared_ptr<const VectorIndex> vectors,
                                                      bool later = false);

}  // namespace sibyl::index
