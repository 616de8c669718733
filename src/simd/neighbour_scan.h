#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::simd {

// Distances of a node's neighbours from the codes that lie in the node ("Cache locality is not
// enough", André et al. 2015, for the look-up; "SymphonyQG", Gou et al. 2025, for its place in a
// graph walk). Thread-safe; the widest kernel of the CPU is chosen at run time.

/// Codes that are looked up together.
inline constexpr size_t kScanLanes = 32;
/// Groups that are read together: codes must be readable up to a multiple of it, and tables hold
/// zeros there.
inline constexpr size_t kScanGroupsStep = 4;
/// Sums of so many table entries fit 16 bits.
inline constexpr size_t kScanGroupsMax = 256;

/// A query's table of 16 entries for each 4-bit group; a looked-up sum means offset + step * sum.
struct ScanTable {
  const uint8_t* entries = nullptr;  ///< [groups rounded up x 16], 64-byte aligned.
  size_t groups = 0;
  float step = 0;
  float offset = 0;
};

/// Packs 32 codes of [groups] numbers below 16, given as [groups x 32], into groups * 16 bytes.
/// Byte 2 j of a group holds code j low and code 16 + j high, byte 2 j + 1 code 8 + j and 24 + j.
void scan_pack(const uint8_t* codes, size_t groups, uint8_t* packed);

/// Nearest of 16 centroids of `size` numbers, [16 x size], for each of 32 points, [size x 32].
void nearest_of_16(const float* points, const float* centroids, size_t size, uint8_t* codes);

/// out[i] = base + add[i] + scale[i] * (offset + step * sum of the table's entries of code i), for
/// i < 32; `add` and `scale` are float16. Returns the bits i where out[i] < threshold.
uint32_t scan_neighbours(const ScanTable& table, const uint8_t* packed, const uint16_t* add,
                         const uint16_t* scale, float base, float threshold, float* out);

/// Numbers that are read together of a query and of bytes: both are readable up to a multiple, and
/// the query holds zeros there.
inline constexpr size_t kWideDotStep = 32;
/// Sum of query * bytes. Exact while |query| summed stays below 2^24.
int32_t wide_dot(const int16_t* query, const int8_t* bytes, size_t dimension);

/// Nearest float16 of a finite number, at most 65,504 in magnitude; and back.
uint16_t to_float16(float value);
float from_float16(uint16_t bits);

}  // namespace sibyl::simd
