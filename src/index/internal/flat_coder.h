#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/internal/flat_file.h"
#include "simd/hadamard.h"

namespace sibyl::index {

/// Makes the codes of docs/formats/flat-index.md. Immutable, thread-safe.
class FlatCoder {
 public:
  /// Views of a file's or a builder's signs and centre, which outlive the coder.
  FlatCoder(Metric metric, std::span<const uint64_t> signs, std::span<const float> centre);

  size_t dimension() const { return centre_.size(); }
  size_t padded() const { return rotation_.dimension(); }
  Metric metric() const { return metric_; }
  std::span<const float> centre() const { return centre_; }

  /// A vector without its centre, rotated: `out` has padded() numbers. Its squared length and its
  /// offset come with it. False when it gets no codes.
  struct Rotated {
    double squared_length = 0;
    float offset = 0;
  };
  bool rotate(std::span<const float> vector, std::span<float> out, Rotated& about) const;

  /// The coarse code of a rotated vector: its signs in groups, [padded() / 4].
  struct Coarse {
    float gain = 0;
    float error = 0;
  };
  static Coarse coarse(std::span<const float> rotated, double squared_length, uint8_t* groups);
  /// The fine code, [padded()]; its step.
  static float fine(std::span<const float> rotated, int8_t* code);

  /// A query as the codes are compared with it.
  struct Query {
    std::vector<uint8_t> table;
    simd::FastScanScale scale;
    std::vector<int8_t> fine;
    float fine_step = 0;
    float length = 0;        ///< of the rotated query
    float offset_share = 0;  ///< what multiplies the offsets
    float constant = 0;      ///< what every score has in common
  };
  /// False when a number of it is not finite or too great: codes then say nothing.
  bool query(std::span<const float> query, Query& out) const;

 private:
  Metric metric_;
  std::span<const float> centre_;
  double centre_squared_;
  simd::Rotation rotation_;
};

}  // namespace sibyl::index
