#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sibyl::store {

/// A vector in signed bytes, and what that loses. All numbers are rounded up where it matters, so
/// that bounds made of them hold.
struct ByteVector {
  /// Fills `codes`, of the vector's size.
  static ByteVector code(std::span<const float> vector, std::span<int8_t> codes);

  float step = 0;    ///< times a byte is the number
  float length = 0;  ///< of the coded vector
  float error = 0;   ///< length of what the coding loses
};

/// A question to the tail.
class TailQuery {
 public:
  explicit TailQuery(std::span<const float> query);
  std::span<const int8_t> codes() const { return codes_; }
  /// The most that the inner product with a vector can be, whose codes give `product` with these.
  float most(int32_t product, const ByteVector& about) const;

 private:
  std::vector<int8_t> codes_;
  ByteVector about_;
  float length_ = 0;  ///< of the query itself
};

/// The vectors of one field of a full block of the tail in bytes, one after the other: a question
/// reads a quarter of what the vectors are, and compares in full what may be among the best.
/// Immutable once a snapshot shows it.
class TailBlockCodes {
 public:
  explicit TailBlockCodes(size_t dimension) : dimension_(dimension), first_(1, 0) {}
  /// The next row's vectors, [parts x dimension].
  void add_row(std::span<const float> vectors);
  /// The rows, counted from the block's first, of which a vector may score `floor` or more.
  void may_reach(const TailQuery& query, float floor, std::vector<uint32_t>& rows) const;

 private:
  size_t dimension_;
  std::vector<uint32_t> first_;  ///< vector of a row; of the one past the last: all vectors
  std::vector<int8_t> codes_;
  std::vector<ByteVector> about_;
};

}  // namespace sibyl::store
