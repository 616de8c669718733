#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "index/neighbour_graph.h"
#include "index/vector_index.h"
#include "simd/fast_scan.h"

// Sections of a flat index file, docs/formats/flat-index.md.

namespace sibyl::index {

inline constexpr std::string_view kFlatMagic = "SIBYLFLT";
inline constexpr uint32_t kFlatVersion = 1;
inline constexpr uint32_t kFlatMeta = 1;
inline constexpr uint32_t kFlatSigns = 2;
inline constexpr uint32_t kFlatCentre = 3;
inline constexpr uint32_t kFlatBlocks = 4;
inline constexpr uint32_t kFlatErrors = 5;
inline constexpr uint32_t kFlatUncoded = 6;
inline constexpr uint32_t kFlatFineCodes = 7;
inline constexpr uint32_t kFlatFineSteps = 8;

struct FlatMeta {
  uint64_t rows = 0;
  uint64_t vectors = 0;
  uint64_t fingerprint = 0;
  uint32_t dimension = 0;
  uint32_t metric = 0;
};

/// Sizes that follow from the number of vectors and their dimension.
struct FlatShape {
  size_t vectors = 0;
  size_t dimension = 0;
  size_t padded() const { return (dimension + 63) / 64 * 64; }
  size_t groups() const { return padded() / 4; }
  size_t blocks() const { return (vectors + simd::kFastScanCodes - 1) / simd::kFastScanCodes; }
  size_t factors_at() const { return simd::fast_scan_block_bytes(groups()); }
  size_t block_bytes() const { return factors_at() + 2 * simd::kFastScanCodes * sizeof(float); }
  size_t uncoded_words() const { return (vectors + 63) / 64; }
};

/// Number of vectors before each row, [rows + 1].
std::vector<uint32_t> first_vectors(const VectorIndex& vectors);
/// What tells the vectors that a flat index was made from.
uint64_t flat_fingerprint(const VectorIndex& vectors, std::span<const uint32_t> first);

/// What a derived file says of the vectors that it was made from.
struct VectorOrigin {
  uint64_t rows = 0;
  uint64_t vectors = 0;
  uint64_t fingerprint = 0;
  uint32_t dimension = 0;
};
/// DataLoss with the path unless `vectors` are those; `first` is first_vectors(vectors).
Result<void> check_origin(const VectorOrigin& origin, const VectorIndex& vectors,
                          std::span<const uint32_t> first, const std::string& path);

}  // namespace sibyl::index
