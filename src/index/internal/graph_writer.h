#pragma once

#include <functional>
#include <span>
#include <vector>

#include "index/derived_index.h"
#include "index/internal/code_space.h"
#include "index/internal/graph_calibration.h"
#include "index/internal/graph_encoder.h"
#include "index/internal/graph_entries.h"
#include "index/internal/graph_file.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

/// More groups cost more memory traffic a node than their better estimates save expansions.
inline constexpr size_t kGraphGroupsMax = 64;
/// What making the graph has of a whole build.
inline constexpr double kGraphShare = 0.8;

/// Makes the graph of vectors.
using GraphMaker = std::function<Result<NeighbourGraph>(std::span<const float> vectors,
                                                        const BuildProgress& progress)>;

/// Codes a graph and writes it with its entry points and efforts. Used once, by one thread.
class GraphWriter {
 public:
  GraphWriter(const VectorIndex& vectors, const GraphSettings& settings, NeighbourWork& work);

  /// Of `given`, or of the graph that `make` makes.
  Result<void> write(const NeighbourGraph* given, const GraphMaker& make,
                     const BuildProgress& progress, const ByteSink& sink);

 private:
  Result<void> check_memory(size_t more_bytes) const;
  Result<void> encode(const NeighbourGraph& graph);
  void encode_entries(const GraphEncoder& encoder, const GraphEntries& entries);
  Result<void> put(const ByteSink& sink);
  GraphNodes nodes() const;

  const VectorIndex& source_;
  const GraphSettings& settings_;
  NeighbourWork& work_;
  std::vector<uint32_t> first_;
  std::vector<float> copy_;
  std::span<const float> vectors_;
  CodeSpace space_;
  NodeLayout layout_;
  std::vector<uint8_t> nodes_;
  std::vector<uint8_t> entries_;
  size_t entry_blocks_ = 0;
  size_t entry_blocks_always_ = 0;
  GraphEfforts efforts_;
};

}  // namespace sibyl::index
