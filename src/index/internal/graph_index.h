#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "index/checked_file.h"
#include "index/internal/code_space.h"
#include "index/internal/graph_file.h"
#include "index/internal/graph_walk.h"
#include "index/internal/huge_arena.h"
#include "index/vector_index.h"

namespace sibyl::index {

/// How a search finds its candidates under a filter (docs/decisions/111, 179).
enum class FilterRegime : uint8_t {
  Chosen,  ///< What suits the filter, near this query.
  Scan,    ///< All that may be answered are measured.
  Inside,  ///< A walk over these alone.
  Among    ///< A walk over all, as wide as it takes.
};

/// Walks a graph file (docs/formats/graph-index.md, "How a search reads it"). The nodes are read
/// from the file's map until a thread has copied them to huge pages.
class GraphIndex final : public VectorIndex {
 public:
  /// The sections of `file` are checked; `nodes` points into it. `first` is
  /// first_vectors(*vectors).
  GraphIndex(CheckedFile file, const GraphMeta& meta, CodeSpace space, const GraphNodes& nodes,
             std::shared_ptr<const VectorIndex> vectors, std::vector<uint32_t> first);
  ~GraphIndex() override;
  GraphIndex(const GraphIndex&) = delete;
  GraphIndex& operator=(const GraphIndex&) = delete;

  size_t rows() const override { return first_.size() - 1; }
  size_t vectors() const override { return meta_.vectors; }
  size_t dimension() const override { return meta_.dimension; }
  std::string_view kind() const override { return "graph"; }
  void search(std::span<const float> query, size_t k, const RowSet* allowed,
              std::vector<VectorHit>& out) const override;
  void search_with(std::span<const float> query, size_t k, const RowSet* allowed,
                   const SearchOptions& options, std::vector<VectorHit>& out) const override;
  /// Searches in one way, however badly it suits: for comparing them. `effort` 0: the calibrated.
  void search_in(FilterRegime regime, std::span<const float> query, size_t k, const RowSet& allowed,
                 size_t effort, std::vector<VectorHit>& out) const;
  /// The graph that is walked. InvalidData when a file that is not checked yet has wrong numbers.
  Result<NeighbourGraph> neighbour_graph() const;
  size_t resident_bytes() const override;
  size_t mapped_bytes() const override;
  void score(std::span<const float> query, std::span<const uint32_t> rows,
             std::span<VectorHit> out) const override;
  std::span<const float> vectors_of(uint32_t row) const override {
    return vectors_->vectors_of(row);
  }

 private:
  struct Request;

  bool single() const { return row_of_.empty(); }
  uint32_t row_of(uint32_t vector) const { return single() ? vector : row_of_[vector]; }
  GraphNodes nodes() const;
  size_t effort_of(const SearchOptions& options) const;
  void search_request(Request& request, size_t k, const SearchOptions& options,
                      std::vector<VectorHit>& out) const;
  void search_rows(const Request& request, const SearchOptions& options, WalkScratch& scratch,
                   std::vector<VectorHit>& out) const;
  /// Finds candidates by the walk or the scan that suits the filter (graph_filter.cc).
  void find_allowed(const Request& request, size_t effort, WalkScratch& scratch) const;
  void find_near(const Request& request, size_t effort, WalkScratch& scratch) const;
  bool is_large(const Request& request) const;
  /// Whether neighbours of the filter's nodes are in it more often than by chance.
  bool is_gathered(const Request& request, WalkScratch& scratch) const;
  /// A first few steps among all, which `capacity` candidates go on from; the share of what lies
  /// nearest then that may be answered.
  double look_around(const Request& request, size_t capacity, WalkScratch& scratch) const;
  /// A walk among all, wider and wider; from what look_around found when `begun`.
  void walk_allowed(const Request& request, size_t effort, double reach, bool begun,
                    WalkScratch& scratch) const;
  /// A walk inside the filter; false when it is lost.
  bool walk_filter(const Request& request, size_t effort, WalkScratch& scratch) const;
  /// `count` vectors of the filter, spread over all of it.
  void choose_seeds(const Request& request, size_t count, WalkScratch& scratch) const;
  /// Puts those of `others` into the pool that are nearer than the last wanted of what a walk found
  /// and were not met: the filter then has islands which the walk did not get to. Whether there
  /// are.
  bool enter_islands(const GraphNodes& graph, std::span<const uint32_t> others, size_t wanted,
                     WalkScratch& scratch) const;
  double vectors_allowed(const Request& request) const;
  /// Vectors that are not farther than the last wanted row, answerable or not, if those of the
  /// filter lie like all.
  double reach_of(const Request& request) const;
  void scan_allowed(const Request& request, WalkScratch& scratch) const;
  /// Drops what may not be answered; how many rows remain.
  size_t keep_allowed(const Request& request, WalkScratch& scratch) const;
  /// The best rows of what was found, by their full vectors.
  void rank(const Request& request, WalkScratch& scratch, std::vector<VectorHit>& out) const;
  void rank_exact(const Request& request, std::span<const uint32_t> rows,
                  std::vector<VectorHit>& out) const;
  std::unique_ptr<WalkScratch> take_scratch() const;
  void give_scratch(std::unique_ptr<WalkScratch> scratch) const;
  void copy_nodes(const std::stop_token& stop);
  /// The first search has the disk for itself; false when the index goes meanwhile.
  bool wait_for_search(const std::stop_token& stop);

  CheckedFile file_;
  GraphMeta meta_;
  CodeSpace space_;
  GraphNodes file_nodes_;
  std::shared_ptr<const VectorIndex> vectors_;
  std::vector<uint32_t> first_;
  std::vector<uint32_t> row_of_;  ///< Empty when every row has one vector.
  HugeArena arena_;
  std::atomic<const uint8_t*> hot_nodes_{nullptr};  ///< The arena when it is complete.
  mutable std::mutex scratch_mutex_;
  mutable std::vector<std::unique_ptr<WalkScratch>> scratch_;
  mutable std::atomic<bool> is_searched_ = false;
  std::mutex copier_mutex_;
  mutable std::condition_variable_any searched_;
  std::jthread copier_;
};

}  // namespace sibyl::index
