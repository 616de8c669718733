#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/bits.h"

namespace sibyl::index {

/// A set of rows [0, size) as a bitmap. Not thread-safe while changed.
class RowSet {
 public:
  explicit RowSet(size_t size, bool full = false)
      : size_(size), words_((size + 63) / 64, full ? ~uint64_t{0} : 0) {
    if (full && size % 64 != 0) {
      words_.back() = (uint64_t{1} << (size % 64)) - 1;
    }
  }
  bool contains(size_t row) const { return (words_[row / 64] >> (row % 64) & 1) != 0; }
  void insert(size_t row) { words_[row / 64] |= uint64_t{1} << (row % 64); }
  void erase(size_t row) { words_[row / 64] &= ~(uint64_t{1} << (row % 64)); }
  void intersect(const RowSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= other.words_[i];
    }
  }
  void unite(const RowSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
  }
  /// The rows that were not in the set.
  void complement() {
    for (uint64_t& word : words_) {
      word = ~word;
    }
    if (size_ % 64 != 0) {
      words_.back() &= (uint64_t{1} << (size_ % 64)) - 1;
    }
  }
  /// Makes room for rows up to `size`; the new ones are not in the set.
  void grow(size_t size) {
    size_ = size > size_ ? size : size_;
    words_.resize((size_ + 63) / 64, 0);
  }
  /// Calls `visit(row)` for every row of the set, ascending.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(i * 64 + static_cast<size_t>(std::countr_zero(word)));
      }
    }
  }
  size_t size() const { return size_; }
  /// Row r is bit r % 64 of word r / 64; the bits from size() on are 0.
  std::span<const uint64_t> words() const { return words_; }
  std::span<uint64_t> words() { return words_; }
  size_t count() const { return simd::count_bits(words_); }

 private:
  size_t size_;
  std::vector<uint64_t> words_;
};

}  // namespace sibyl::index
