#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/row_set.h"

namespace sibyl::index {

/// What "near" means. Inner product is for vectors of unit length too, where both give one order.
enum class Metric : uint8_t { kInnerProduct, kSquaredL2 };

/// Called now and then from the building thread with the share that is done, 0 to 1; false cancels.
using BuildProgress = std::function<bool(double share)>;

struct NeighbourGraphSettings {
  uint32_t degree = 32;  ///< Neighbours a node, a multiple of 32.
  Metric metric = Metric::kInnerProduct;
  uint64_t seed = 1;
  unsigned threads = 1;
  /// Refused with TooLarge and both figures when the build needs more; 0: no bound.
  uint64_t memory_bytes_max = 0;
};

/// Directed graph of fixed degree over vectors numbered from 0. Every node is reached from `entry`.
struct NeighbourGraph {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t degree = 0;
  uint32_t entry = 0;
  std::vector<uint32_t> neighbours;  ///< [count x degree], nearest first, kNone after the last.
  std::span<const uint32_t> of(size_t node) const {
    return std::span(neighbours).subspan(node * degree, degree);
  }
};

/// Builds the graph of `count` vectors, [count x dimension]. The same seed gives the same graph at
/// any number of threads. InvalidArgument on wrong settings, Interrupted when `progress` says so.
Result<NeighbourGraph> build_neighbour_graph(std::span<const float> vectors, size_t dimension,
                                             const NeighbourGraphSettings& settings,
                                             const BuildProgress& progress = {});

/// The graph of vectors of which the first have one already: `old`, less the nodes in `removed`,
/// whose places the later ones take in order; what follows the kept ones in `vectors` is new. Rows
/// that lost neighbours are mended with the neighbours of those, new nodes are searched for and
/// linked; far cheaper than a build while little changed, and a build when most did. Determined by
/// its arguments, not by the threads. InvalidArgument when `old`, `removed` and `vectors` do not
/// fit each other; else as build_neighbour_graph.
Result<NeighbourGraph> extend_neighbour_graph(const NeighbourGraph& old, const RowSet& removed,
                                              std::span<const float> vectors, size_t dimension,
                                              const NeighbourGraphSettings& settings,
                                              const BuildProgress& progress = {});

}  // namespace sibyl::index
