#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/neighbour_scan.h"

namespace sibyl::simd {

// What a query costs before the first neighbour is judged by its code: numbers rounded to whole
// ones, and the table that codes are looked up in. Thread-safe; the widest kernel of the CPU is
// chosen at run time.

/// Greatest magnitude of finite numbers; 0 of none.
float greatest_magnitude(const float* values, size_t count);

/// out[i] = values[i] * factor, rounded to the nearest whole number and cut to what fits; the least
/// where that is not a number.
void round_to_shorts(const float* values, size_t count, float factor, int16_t* out);
void round_to_bytes(const float* values, size_t count, float factor, int8_t* out);

/// 16 centroids for each group of numbers.
struct ScanCentroids {
  /// columns[i * 16 + j] is number i in centroid j of its group, the groups one after the other.
  const float* columns = nullptr;
  const uint8_t* sizes = nullptr;  ///< Numbers of each group, at least one.
  size_t groups = 0;               ///< At most kScanGroupsMax.
};

/// The table whose entry j of a group stands for the product of that group's numbers with its
/// centroid j. `products` is room for [groups x 16]; `entries` becomes the table's, of which the
/// first groups * 16 are written.
ScanTable make_scan_table(const ScanCentroids& centroids, const float* numbers, float* products,
                          uint8_t* entries);

}  // namespace sibyl::simd
