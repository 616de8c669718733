#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace sibyl::index {

/// A node and its distance in one number that sorts by distance, then by node.
using Candidate = uint64_t;
Candidate make_candidate(float distance, uint32_t node);
float candidate_distance(Candidate candidate);
inline uint32_t candidate_node(Candidate candidate) {
  return static_cast<uint32_t>(candidate);
}

/// The nearest nodes seen so far of every node. What is kept depends on the set of what was
/// offered, not on its order, so not on threads. `offer` is thread-safe.
class NeighbourCandidates {
 public:
  NeighbourCandidates(size_t nodes, size_t capacity);

  /// Memory of one thread between calls.
  struct Scratch {
    std::vector<uint32_t> places;
    std::vector<Candidate> offered;
    std::vector<Candidate> merged;
  };
  /// Keeps those of `others` that are among the nearest; `distances[i]` is of others[i]. The node
  /// itself is left out.
  void offer(uint32_t node, std::span<const uint32_t> others, const float* distances,
             Scratch& scratch);
  /// Nearest first. Not while others offer.
  std::span<const Candidate> of(uint32_t node) const {
    return std::span(kept_).subspan(node * capacity_, counts_[node]);
  }
  static size_t bytes(size_t nodes, size_t capacity) {
    return nodes * (sizeof(uint32_t) + capacity * sizeof(Candidate));
  }

 private:
  void merge(uint32_t node, std::vector<Candidate>& offered, std::vector<Candidate>& merged);

  size_t capacity_;
  std::vector<uint32_t> counts_;
  std::vector<Candidate> kept_;  ///< [nodes x capacity]
  std::vector<std::mutex> locks_;
};

}  // namespace sibyl::index
