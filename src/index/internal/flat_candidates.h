#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sibyl::index {

/// Vectors of a flat search that may belong to the k best rows: a score known up to an error. Not
/// thread-safe.
class FlatCandidates {
 public:
  struct Item {
    uint32_t vector = 0;
    uint32_t row = 0;
    float score = 0;
    float error = 0;
    float lowest() const { return score - error; }
    float highest() const { return score + error; }
  };
  /// `distinct`: several vectors may be of one row, which then counts once.
  /// What cannot reach `floor` counts for nothing.
  FlatCandidates(size_t k, bool distinct, float floor);
  /// k rows have at least this score; what cannot reach it need not be added. Grows now and then.
  float threshold() const { return threshold_; }
  /// Item's numbers are no NaN.
  void add(const Item& item);
  /// Raises the threshold to what the items show.
  void settle();
  /// Items that may reach the threshold.
  const std::vector<Item>& items() const { return items_; }

 private:
  size_t k_;
  bool distinct_;
  size_t capacity_;
  float threshold_;
  std::vector<Item> items_;
  std::vector<float> lowest_;
};

}  // namespace sibyl::index
