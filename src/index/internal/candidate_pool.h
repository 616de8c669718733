#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simd/sorted_pool.h"

namespace sibyl::index {

/// The nearest candidates of a walk, sorted, and which of them are still to be expanded. Nodes are
/// numbered below 2^31. One thread.
class CandidatePool {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  void reset(size_t capacity) {
    if (distances_.size() < capacity + simd::kPoolBeyond) {
      distances_.resize(capacity + simd::kPoolBeyond);
      nodes_.resize(capacity + simd::kPoolBeyond);
    }
    pool_ = {distances_.data(), nodes_.data(), 0, capacity};
    next_ = 0;
  }
  size_t capacity() const { return pool_.capacity; }
  /// At most as many as reset made room for, and not fewer than are in it.
  void set_capacity(size_t capacity) { pool_.capacity = capacity; }
  /// Only what is nearer is worth an insert.
  float threshold() const {
    return pool_.size < pool_.capacity ? std::numeric_limits<float>::infinity()
                                       : pool_.distances[pool_.capacity - 1];
  }

  /// At most simd::kPoolBatch candidates; the arrays are used up.
  void insert(float* distances, uint32_t* nodes, size_t count) {
    next_ = std::min(next_, simd::insert_batch(pool_, distances, nodes, count));
  }

  void insert_one(float distance, uint32_t node) {
    if (distance < threshold()) {
      std::array<float, simd::kPoolBatchRoom> distances{distance};
      std::array<uint32_t, simd::kPoolBatchRoom> nodes{node};
      insert(distances.data(), nodes.data(), 1);
    }
  }

  /// The nearest candidate that is not expanded, marked as such; kNone when there is none.
  uint32_t pop() {
    const uint32_t node = peek();
    if (node != kNone) {
      pool_.items[next_++] |= kExpanded;
    }
    return node;
  }
  /// What pop would give.
  uint32_t peek() {
    while (next_ < pool_.size && (pool_.items[next_] & kExpanded) != 0) {
      ++next_;
    }
    return next_ < pool_.size ? pool_.items[next_] : kNone;
  }
  /// Keeps the nearest `capacity`, at most as many as there was room for.
  void shrink(size_t capacity) {
    pool_.capacity = std::min(pool_.capacity, capacity);
    pool_.size = std::min(pool_.size, pool_.capacity);
    next_ = std::min(next_, pool_.size);
  }
  /// The nearest, at most `count`, as items: see node_of.
  std::span<const uint32_t> nearest(size_t count) const {
    return {pool_.items, std::min(count, pool_.size)};
  }
  static uint32_t node_of(uint32_t item) { return item & ~kExpanded; }
  /// Of what peek found.
  float next_distance() const { return pool_.distances[next_]; }

 private:
  static constexpr uint32_t kExpanded = uint32_t{1} << 31U;
  std::vector<float> distances_;
  std::vector<uint32_t> nodes_;
  simd::SortedPool pool_;
  size_t next_ = 0;
};

}  // namespace sibyl::index
