#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sibyl::simd {

/// Candidate of a search; higher scores are better, equal scores are ordered by lower key.
struct Scored {
  float score = 0;
  uint64_t key = 0;
  friend bool operator==(const Scored&, const Scored&) = default;
};
inline bool better(const Scored& a, const Scored& b) {
  return a.score != b.score ? a.score > b.score : a.key < b.key;
}

/// Keeps the best k of a stream. The result does not depend on the order of arrival. Not
/// thread-safe.
class TopK {
 public:
  explicit TopK(size_t k) : k_(k) { heap_.reserve(std::min<size_t>(k, 4096)); }
  void add(float score, uint64_t key) {
    const Scored item{score, key};
    if (heap_.size() < k_) {
      heap_.push_back(item);
      std::push_heap(heap_.begin(), heap_.end(), better);
    } else if (k_ > 0 && better(item, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.back() = item;
      std::push_heap(heap_.begin(), heap_.end(), better);
    }
  }
  bool full() const { return heap_.size() == k_; }
  /// Worst kept score; only when full.
  float threshold() const { return heap_.front().score; }
  /// Best first; leaves the collector empty.
  std::vector<Scored> take() {
    std::sort(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  size_t k_;
  std::vector<Scored> heap_;  // worst kept on top
};

}  // namespace sibyl::simd
