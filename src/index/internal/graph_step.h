#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "index/internal/graph_walk.h"
#include "simd/neighbour_scan.h"

// What a walk does at one node, for each kind of nodes that may be entered.

namespace sibyl::index::graph_step {

inline void prefetch(const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(from + i);
  }
}

inline float load_float(const uint8_t* from) {
  float value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline const uint16_t* halves(const uint8_t* from) {
  return reinterpret_cast<const uint16_t*>(from);
}

inline float own_of(const GraphNodes& graph, const uint8_t* block, WalkScratch& scratch) {
  const uint8_t* scale = block + graph.layout.scale_at();
  const float step = load_float(scale);
  scratch.step_max = step > scratch.step_max ? step : scratch.step_max;
  return scratch.query.own(reinterpret_cast<const int8_t*>(block + graph.layout.own_at()), step,
                           load_float(scale + 4));
}

/// Every node may be entered.
struct AllNodes {
  static constexpr bool kAll = true;
  bool contains(uint32_t /*node*/) const { return true; }
};
struct SomeNodes {
  static constexpr bool kAll = false;
  const NodeFilter& filter;
  size_t count;
  bool contains(uint32_t node) const { return node < count && filter.contains(node); }
};
/// Of a file that is not checked yet.
struct RealNodes {
  static constexpr bool kAll = false;
  size_t count;
  bool contains(uint32_t node) const { return node < count; }
};

/// Drops the candidates outside of the filter; how many remain.
template <class Nodes>
size_t keep_inside(const Nodes& inside, float* distances, uint32_t* nodes, size_t count) {
  if constexpr (Nodes::kAll) {
    return count;
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t node = nodes[i];
    distances[kept] = distances[i];
    nodes[kept] = node;
    kept += inside.contains(node) ? 1 : 0;
  }
  return kept;
}

/// Puts the neighbours that `bits` names into the pool.
template <class Nodes>
void insert_near(const Nodes& inside, uint32_t bits, const float* estimates, const uint32_t* nodes,
                 WalkScratch& scratch) {
  std::array<float, simd::kPoolBatchRoom> distances;
  std::array<uint32_t, simd::kPoolBatchRoom> kept;
  const size_t found = simd::keep_bits(bits, estimates, nodes, distances.data(), kept.data());
  const size_t near = keep_inside(inside, distances.data(), kept.data(), found);
  const size_t fresh = scratch.visit(distances.data(), kept.data(), near);
  scratch.pool.insert(distances.data(), kept.data(), fresh);
}

/// Neighbours by the codes that lie in the node.
template <class Nodes>
void expand_inline(const GraphNodes& graph, const Nodes& inside, uint32_t node,
                   WalkScratch& scratch) {
  const uint8_t* block = graph.node(node);
  const float own = own_of(graph, block, scratch);
  scratch.found.push_back({own, node});
  std::array<float, simd::kScanLanes> estimates;
  const NodeLayout& layout = graph.layout;
  const uint16_t* add = halves(block + layout.add_at());
  const uint16_t* gain = halves(block + layout.gain_at());
  for (size_t first = 0; first < layout.degree; first += simd::kScanLanes) {
    const uint32_t bits = simd::scan_neighbours(
        scratch.query.table(), block + first / simd::kScanLanes * layout.batch_bytes(), add + first,
        gain + first, own, scratch.pool.threshold(), estimates.data());
    insert_near(inside, bits, estimates.data(), graph.neighbours(block) + first, scratch);
  }
}

/// The compact form: each neighbour by its own code.
template <class Nodes>
void insert_measured(const GraphNodes& graph, const Nodes& inside, const uint32_t* nodes,
                     WalkScratch& scratch) {
  std::array<float, simd::kPoolBatchRoom> distances;
  std::array<uint32_t, simd::kPoolBatchRoom> fresh;
  std::copy_n(nodes, simd::kPoolBatch, fresh.data());
  distances.fill(0);
  const size_t some = keep_inside(inside, distances.data(), fresh.data(), simd::kPoolBatch);
  const size_t count = scratch.visit(distances.data(), fresh.data(), some);
  for (size_t i = 0; i < count; ++i) {
    prefetch(graph.node(fresh[i]), graph.layout.add_at());
  }
  size_t near = 0;
  const float threshold = scratch.pool.threshold();
  for (size_t i = 0; i < count; ++i) {
    const float distance = own_of(graph, graph.node(fresh[i]), scratch);
    distances[near] = distance;
    fresh[near] = fresh[i];
    near += distance < threshold ? 1 : 0;
  }
  scratch.pool.insert(distances.data(), fresh.data(), near);
}

template <class Nodes>
void expand_compact(const GraphNodes& graph, const Nodes& inside, uint32_t node, float distance,
                    WalkScratch& scratch) {
  scratch.found.push_back({distance, node});
  const uint32_t* neighbours = graph.neighbours(graph.node(node));
  for (size_t first = 0; first < graph.layout.degree; first += simd::kScanLanes) {
    insert_measured(graph, inside, neighbours + first, scratch);
  }
}

}  // namespace sibyl::index::graph_step
