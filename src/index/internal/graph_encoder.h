#pragma once

#include <span>
#include <vector>

#include "index/internal/code_space.h"
#include "index/internal/graph_file.h"
#include "index/internal/neighbour_work.h"

namespace sibyl::index {

/// Writes the blocks of nodes (docs/formats/graph-index.md, "Nodes"). Immutable, thread-safe.
class GraphEncoder {
 public:
  /// Views of what outlives it: vectors are [n x dimension], node i is vector i.
  GraphEncoder(const CodeSpace& space, std::span<const float> vectors, const NeighbourGraph& graph);

  const NodeLayout& layout() const { return layout_; }
  /// Projects all vectors; needed before the first block where there are groups.
  Result<void> project(NeighbourWork& work, double share);
  /// `out` has layout().bytes() zeros.
  void encode_node(uint32_t node, uint8_t* out) const;
  /// A block of at most 32 entry points; `out` has EntryLayout::bytes() zeros.
  void encode_entries(std::span<const uint32_t> nodes, uint8_t* out) const;

 private:
  /// Where 32 directions start from, and the point near which queries are taken to lie.
  struct Start;
  struct Batch;
  Start start_of(uint32_t vector) const;
  void encode_own(uint32_t vector, uint8_t* out) const;
  void prefetch(uint32_t vector) const;
  void add_lane(const Start& start, uint32_t vector, size_t lane, Batch& batch) const;
  /// Codes and factors of the first `count` lanes.
  void finish(const Start& start, size_t count, Batch& batch, uint8_t* codes, uint8_t* add,
              uint8_t* gain) const;
  std::span<const float> vector(size_t i) const {
    return vectors_.subspan(i * space_.dimension(), space_.dimension());
  }

  const CodeSpace& space_;
  std::span<const float> vectors_;
  const NeighbourGraph& graph_;
  NodeLayout layout_;
  std::vector<float> heads_;  ///< Projection of each vector, [n x head].
  std::vector<float> mean_head_;
};

}  // namespace sibyl::index
