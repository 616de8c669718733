#pragma once

#include <cstdint>
#include <string_view>

#include "simd/neighbour_scan.h"

// Sections of a graph index file and the places inside a node, docs/formats/graph-index.md.

namespace sibyl::index {

inline constexpr std::string_view kGraphMagic = "SIBYLGRA";
inline constexpr uint32_t kGraphVersion = 2;
inline constexpr uint32_t kGraphMeta = 1;
inline constexpr uint32_t kGraphMean = 2;
inline constexpr uint32_t kGraphAxes = 3;
inline constexpr uint32_t kGraphGroups = 4;
inline constexpr uint32_t kGraphCentroids = 5;
inline constexpr uint32_t kGraphEntries = 6;
inline constexpr uint32_t kGraphNodes = 7;

inline constexpr uint32_t kGraphDegreeMax = 256;
inline constexpr uint32_t kGraphEntriesMax = 1U << 20U;
inline constexpr uint32_t kGraphEffortMax = 1U << 20U;
/// One bit of a node's number says whether it was expanded.
inline constexpr uint64_t kGraphVectorsMax = (uint64_t{1} << 31U) - 1;
inline constexpr size_t kGraphEfforts = 8;
/// Shares of the ten nearest that the efforts of the file stand for.
inline constexpr float kGraphRecalls[kGraphEfforts] = {0.90F,  0.95F, 0.97F,  0.98F,
                                                       0.985F, 0.99F, 0.995F, 0.999F};
inline constexpr size_t kGraphDefaultRecall = 4;

struct GraphMeta {
  uint64_t rows = 0;
  uint64_t vectors = 0;
  uint64_t fingerprint = 0;
  uint32_t dimension = 0;
  uint32_t metric = 0;
  uint32_t degree = 0;
  uint32_t head = 0;
  uint32_t groups = 0;
  uint32_t entries = 0;
  uint32_t entries_always = 0;
  uint32_t reserved = 0;
  float unit = 1;
  float recall_max = 0;  ///< Of the greatest effort, where that misses a recall; else 0.
  uint32_t efforts[kGraphEfforts] = {};
};
static_assert(sizeof(GraphMeta) == 96);

/// Places inside a node's block; what kernels read beyond a part still lies in the block. Without
/// groups (the compact form) there are no neighbours' codes.
struct NodeLayout {
  size_t dimension = 0;
  size_t degree = 0;
  size_t groups = 0;

  size_t batch_bytes() const { return groups * 16; }
  size_t own_at() const { return degree / simd::kScanLanes * batch_bytes(); }
  /// float32 step and squared length of the own code.
  size_t scale_at() const { return (own_at() + dimension + 3) / 4 * 4; }
  size_t add_at() const { return scale_at() + 8; }
  size_t factor_bytes() const { return groups == 0 ? 0 : degree * sizeof(uint16_t); }
  size_t gain_at() const { return add_at() + factor_bytes(); }
  size_t neighbours_at() const { return gain_at() + factor_bytes(); }
  size_t end() const { return neighbours_at() + degree * sizeof(uint32_t); }
  /// Whole cache lines, or quarters of one in the compact form.
  size_t bytes() const { return groups == 0 ? (end() + 15) / 16 * 16 : (end() + 63) / 64 * 64; }
};

/// A block of 32 entry points: codes, factors, numbers of nodes.
struct EntryLayout {
  size_t groups = 0;
  size_t add_at() const {
    return (groups + simd::kScanGroupsStep - 1) / simd::kScanGroupsStep * simd::kScanGroupsStep *
           16;
  }
  size_t gain_at() const { return add_at() + simd::kScanLanes * sizeof(uint16_t); }
  size_t nodes_at() const { return gain_at() + simd::kScanLanes * sizeof(uint16_t); }
  size_t bytes() const { return nodes_at() + simd::kScanLanes * sizeof(uint32_t); }
};

}  // namespace sibyl::index
