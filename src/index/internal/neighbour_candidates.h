#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace sibyl::index {

/// A node and its distance in one number that sorts by distance, then by node.
using Candidate = uint64_t;
inline Candidate make_candidate(float distance, uint32_t node) {
  // Distances are not negative, so their bits order as they do.
  return static_cast<uint64_t>(std::bit_cast<uint32_t>(distance)) << 32U | node;
}
inline float candidate_distance(Candidate candidate) {
  return std::bit_cast<float>(static_cast<uint32_t>(candidate >> 32U));
}
inline uint32_t candidate_node(Candidate candidate) {
  return static_cast<uint32_t>(candidate);
}

/// Of the nodes seen so far, for every node: the nearest ones, and the nearest one in each cell of
/// directions (as PiPNN's HashPrune keeps them), so that near ones on one side do not hide what
/// lies farther on another. What is kept depends on the set of what was offered, not on its order,
/// so not on threads. `offer` is thread-safe.
class NeighbourCandidates {
 public:
  NeighbourCandidates(size_t nodes, size_t near, size_t cells);

  /// Memory of one thread between calls.
  struct Scratch {
    std::vector<uint32_t> places;
    std::vector<Candidate> offered;
    std::vector<Candidate> merged;
  };
  /// Keeps those of `others` that are to be kept; `distances[i]` and `cells[i]` are of others[i].
  /// The node itself is left out.
  void offer(uint32_t node, std::span<const uint32_t> others, const float* distances,
             const uint8_t* cells, Scratch& scratch);
  /// Asks for what an offer to the node will read.
  void prefetch(uint32_t node) const {
    constexpr size_t kPerLine = 64 / sizeof(Candidate);
    for (size_t i = 0; i < near_max_; i += kPerLine) {
      __builtin_prefetch(near_.data() + node * near_max_ + i);
    }
    for (size_t i = 0; i < cells_; i += kPerLine) {
      __builtin_prefetch(far_.data() + node * cells_ + i);
    }
  }
  /// All that is kept of a node, nearest first, each once. Not while others offer.
  void collect(uint32_t node, std::vector<Candidate>& out) const;
  static size_t bytes(size_t nodes, size_t near, size_t cells) {
    return nodes * (sizeof(uint32_t) + (near + cells) * sizeof(Candidate));
  }

 private:
  void offer_near(uint32_t node, std::span<const uint32_t> others, const float* distances,
                  Scratch& scratch);
  void offer_cells(uint32_t node, std::span<const uint32_t> others, const float* distances,
                   const uint8_t* cells);
  void merge(uint32_t node, std::vector<Candidate>& offered, std::vector<Candidate>& merged);
  std::span<const Candidate> near_of(uint32_t node) const {
    return std::span(near_).subspan(node * near_max_, near_counts_[node]);
  }

  size_t near_max_;
  size_t cells_;
  std::vector<uint32_t> near_counts_;
  std::vector<Candidate> near_;  ///< [nodes x near_max_], nearest first.
  std::vector<Candidate> far_;   ///< [nodes x cells_], kNobody where nothing was seen.
  std::vector<std::mutex> locks_;
};

}  // namespace sibyl::index
