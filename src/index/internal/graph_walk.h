#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "index/internal/candidate_pool.h"
#include "index/internal/code_space.h"
#include "index/internal/graph_file.h"
#include "index/row_set.h"

namespace sibyl::index {

/// The nodes of a graph as they lie in memory.
struct GraphNodes {
  NodeLayout layout;
  EntryLayout entry_layout;
  size_t node_bytes = 0;
  size_t count = 0;
  const uint8_t* nodes = nullptr;
  const uint8_t* entries = nullptr;  ///< Blocks of 32.
  size_t entry_blocks = 0;
  size_t entry_blocks_always = 0;  ///< Looked at by every walk; the rest as far as its effort goes.
  /// All numbers of neighbours are in bounds; else a walk passes over those which are not.
  bool is_checked = true;

  const uint8_t* node(uint32_t i) const { return nodes + size_t{i} * node_bytes; }
  const uint32_t* neighbours(const uint8_t* block) const {
    return reinterpret_cast<const uint32_t*>(block + layout.neighbours_at());
  }
};

/// Whether the neighbours of nodes [first, last) are nodes; `nodes` are those of the graph or a
/// copy.
bool are_neighbours_right(const GraphNodes& graph, const uint8_t* nodes, size_t first, size_t last);

/// A node and its distance by its own code.
struct Found {
  float distance = 0;
  uint32_t node = 0;
};

/// What a search needs beside the index; reused from query to query by one thread at a time.
class WalkScratch {
 public:
  CodeQuery query;
  CandidatePool pool;
  std::vector<Found> found;  ///< All that were expanded.
  float step_max = 0;        ///< Greatest step of an own code since found was empty.
  std::vector<uint32_t> rows;
  std::vector<uint32_t> seeds;
  std::vector<size_t> places;
  std::unordered_set<uint32_t> seen_rows;

  /// Forgets what was visited and makes room for `count` nodes.
  void reset_visited(size_t count) {
    for (size_t i = 0; i < touched_count_; ++i) {
      visited_[touched_[i] / 64] = 0;
    }
    touched_count_ = 0;
    visited_.resize((count + 63) / 64, 0);
  }
  bool visited(uint32_t node) const { return (visited_[node / 64] >> (node % 64) & 1) != 0; }
  /// Keeps those of `count` candidates, at most simd::kPoolBatch, that were not visited before, and
  /// marks them; how many.
  size_t visit(float* distances, uint32_t* nodes, size_t count) {
    if (touched_.size() < touched_count_ + count) {
      touched_.resize(2 * touched_.size() + simd::kPoolBatch);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t node = nodes[i];
      uint64_t& word = visited_[node / 64];
      const uint64_t bit = uint64_t{1} << (node % 64);
      distances[kept] = distances[i];
      nodes[kept] = node;
      touched_[touched_count_ + kept] = node;
      kept += (word & bit) == 0 ? 1 : 0;
      word |= bit;
    }
    touched_count_ += kept;
    return kept;
  }

 private:
  std::vector<uint64_t> visited_;
  std::vector<uint32_t> touched_;
  size_t touched_count_ = 0;
};

/// Best-first walk with a pool of `effort` candidates; what was expanded stands in scratch.found.
/// scratch.query is prepared.
void walk(const GraphNodes& graph, size_t effort, WalkScratch& scratch);
/// The same in steps: `most` candidates at most are expanded at each.
void begin_walk(const GraphNodes& graph, size_t effort, WalkScratch& scratch);
void go_on_walk(const GraphNodes& graph, size_t most, WalkScratch& scratch);

/// The nodes that may be answered.
struct NodeFilter {
  const RowSet* rows = nullptr;
  std::span<const uint32_t> row_of;  ///< Empty: node i is row i.
  bool contains(uint32_t node) const {
    return rows->contains(row_of.empty() ? node : row_of[node]);
  }
};

/// How many neighbours of a node are in the filter.
size_t neighbours_inside(const GraphNodes& graph, const NodeFilter& filter, uint32_t node);
void prefetch_neighbours(const GraphNodes& graph, uint32_t node);

/// How much farther than another, by their own codes, a node of scratch.found may be that is
/// nearer.
float own_error(const WalkScratch& scratch);
/// Candidates that are compared in full, at least, for `wanted` nearest.
size_t compared_least(size_t wanted);
/// Drops from scratch.found what is not among the `wanted` nearest, whatever the codes' errors.
void keep_likely(size_t wanted, WalkScratch& scratch);

/// The same among the nodes of a filter alone, from its entry points and `seeds`. False, before it
/// ends, when fewer than `affinity_min` of the neighbours of the first nodes are in the filter:
/// such a walk is then soon lost.
bool walk_inside(const GraphNodes& graph, const NodeFilter& filter, std::span<const uint32_t> seeds,
                 size_t effort, float affinity_min, WalkScratch& scratch);

/// Goes on where something was put into the pool after walk_inside.
void go_on_inside(const GraphNodes& graph, const NodeFilter& filter, WalkScratch& scratch);

/// Distances of given nodes by their own codes, into scratch.found.
void measure(const GraphNodes& graph, std::span<const uint32_t> nodes, WalkScratch& scratch);

/// Distance of a node by its own code.
float own_distance(const GraphNodes& graph, uint32_t node, WalkScratch& scratch);

}  // namespace sibyl::index
