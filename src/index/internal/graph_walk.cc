#include "index/internal/graph_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace sibyl::index {
namespace {

/// Expansions after which the affinity of a filter is looked at.
constexpr size_t kProbes = 16;
/// Deviations of the difference of two own distances that are reckoned with.
constexpr float kDeviations = 5;

void prefetch(const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(from + i);
  }
}

float load_float(const uint8_t* from) {
  float value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

const uint16_t* halves(const uint8_t* from) {
  return reinterpret_cast<const uint16_t*>(from);
}

float own_of(const GraphNodes& graph, const uint8_t* block, WalkScratch& scratch) {
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

template <class Nodes>
void enter(const GraphNodes& graph, const Nodes& inside, WalkScratch& scratch) {
  const EntryLayout& layout = graph.entry_layout;
  std::array<float, simd::kScanLanes> estimates;
  for (size_t i = 0; i < graph.entry_blocks; ++i) {
    const uint8_t* block = graph.entries + i * layout.bytes();
    const auto* nodes = reinterpret_cast<const uint32_t*>(block + layout.nodes_at());
    if (layout.groups == 0) {
      insert_measured(graph, inside, nodes, scratch);
      continue;
    }
    const uint32_t bits =
        simd::scan_neighbours(scratch.query.table(), block, halves(block + layout.add_at()),
                              halves(block + layout.gain_at()), scratch.query.origin(),
                              scratch.pool.threshold(), estimates.data());
    insert_near(inside, bits, estimates.data(), nodes, scratch);
  }
}

/// One node ahead: while one is expanded, the block of the next is on its way.
template <class Nodes>
void walk_inline(const GraphNodes& graph, const Nodes& inside, size_t most, WalkScratch& scratch) {
  uint32_t node = scratch.pool.pop();
  while (node != CandidatePool::kNone) {
    const uint32_t next = --most == 0 ? CandidatePool::kNone : scratch.pool.pop();
    if (next != CandidatePool::kNone) {
      prefetch(graph.node(next), graph.node_bytes);
    }
    expand_inline(graph, inside, node, scratch);
    if (most == 0) {
      return;
    }
    node = next != CandidatePool::kNone ? next : scratch.pool.pop();
  }
}

template <class Nodes>
void walk_compact(const GraphNodes& graph, const Nodes& inside, size_t most, WalkScratch& scratch) {
  while (most-- > 0 && scratch.pool.peek() != CandidatePool::kNone) {
    const float distance = scratch.pool.next_distance();
    expand_compact(graph, inside, scratch.pool.pop(), distance, scratch);
    const uint32_t next = scratch.pool.peek();
    if (next != CandidatePool::kNone) {
      prefetch(graph.node(next) + graph.layout.neighbours_at(),
               graph.layout.degree * sizeof(uint32_t));
    }
  }
}

void begin(const GraphNodes& graph, size_t effort, WalkScratch& scratch) {
  scratch.reset_visited(graph.count);
  scratch.pool.reset(effort);
  scratch.found.clear();
  scratch.step_max = 0;
}

/// Expands at most `most` candidates.
template <class Nodes>
void go_on(const GraphNodes& graph, const Nodes& inside, size_t most, WalkScratch& scratch) {
  if (graph.layout.groups == 0) {
    walk_compact(graph, inside, most, scratch);
  } else {
    walk_inline(graph, inside, most, scratch);
  }
}

}  // namespace

void begin_walk(const GraphNodes& graph, size_t effort, WalkScratch& scratch) {
  begin(graph, effort, scratch);
  if (graph.is_checked) {
    enter(graph, AllNodes(), scratch);
  } else {
    enter(graph, RealNodes{graph.count}, scratch);
  }
}

void go_on_walk(const GraphNodes& graph, size_t most, WalkScratch& scratch) {
  if (graph.is_checked) {
    go_on(graph, AllNodes(), most, scratch);
  } else {
    go_on(graph, RealNodes{graph.count}, most, scratch);
  }
}

void walk(const GraphNodes& graph, size_t effort, WalkScratch& scratch) {
  begin_walk(graph, effort, scratch);
  go_on_walk(graph, SIZE_MAX, scratch);
}

size_t neighbours_inside(const GraphNodes& graph, const NodeFilter& filter, uint32_t node) {
  const uint32_t* nodes = graph.neighbours(graph.node(node));
  return static_cast<size_t>(std::count_if(nodes, nodes + graph.layout.degree, [&](uint32_t to) {
    return to < graph.count && filter.contains(to);
  }));
}

void prefetch_neighbours(const GraphNodes& graph, uint32_t node) {
  prefetch(graph.node(node) + graph.layout.neighbours_at(), graph.layout.degree * sizeof(uint32_t));
}

bool are_neighbours_right(const GraphNodes& graph, const uint8_t* nodes, size_t first,
                          size_t last) {
  for (size_t i = first; i < last; ++i) {
    const uint32_t* numbers = graph.neighbours(nodes + i * graph.node_bytes);
    if (!std::all_of(numbers, numbers + graph.layout.degree,
                     [&](uint32_t number) { return number < graph.count; })) {
      return false;
    }
  }
  return true;
}

bool walk_inside(const GraphNodes& graph, const NodeFilter& filter, std::span<const uint32_t> seeds,
                 size_t effort, float affinity_min, WalkScratch& scratch) {
  const SomeNodes inside{filter, graph.count};
  begin(graph, effort, scratch);
  enter(graph, inside, scratch);
  for (const uint32_t seed : seeds) {
    float distance = 0;
    uint32_t node = seed;
    if (scratch.visit(&distance, &node, 1) == 1) {
      distance = own_distance(graph, seed, scratch);
      scratch.pool.insert_one(distance, seed);
    }
  }
  go_on(graph, inside, kProbes, scratch);
  size_t neighbours = 0;
  for (const Found& found : scratch.found) {
    neighbours += neighbours_inside(graph, filter, found.node);
  }
  if (static_cast<float>(neighbours) <
      affinity_min * static_cast<float>(scratch.found.size() * graph.layout.degree)) {
    return false;
  }
  go_on(graph, inside, SIZE_MAX, scratch);
  return true;
}

void go_on_inside(const GraphNodes& graph, const NodeFilter& filter, WalkScratch& scratch) {
  go_on(graph, SomeNodes{filter, graph.count}, SIZE_MAX, scratch);
}

void measure(const GraphNodes& graph, std::span<const uint32_t> nodes, WalkScratch& scratch) {
  constexpr size_t kAhead = 8;
  const size_t own_at = graph.layout.own_at();
  const size_t own_bytes = graph.layout.add_at() - own_at;
  scratch.found.clear();
  scratch.step_max = 0;
  scratch.found.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i + kAhead < nodes.size()) {
      prefetch(graph.node(nodes[i + kAhead]) + own_at, own_bytes);
    }
    scratch.found.push_back({own_of(graph, graph.node(nodes[i]), scratch), nodes[i]});
  }
}

float own_distance(const GraphNodes& graph, uint32_t node, WalkScratch& scratch) {
  return own_of(graph, graph.node(node), scratch);
}

float own_error(const WalkScratch& scratch) {
  return kDeviations * scratch.query.own_deviation(scratch.step_max);
}

size_t compared_least(size_t wanted) {
  return wanted + 6 + wanted / 4;
}

void keep_likely(size_t wanted, WalkScratch& scratch) {
  std::vector<Found>& found = scratch.found;
  const size_t least = compared_least(wanted);
  if (wanted == 0 || found.size() <= least) {
    return;
  }
  const auto nearer = [](const Found& a, const Found& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.node < b.node;
  };
  const auto end_of = [&](size_t count) { return found.begin() + static_cast<ptrdiff_t>(count); };
  std::nth_element(found.begin(), end_of(least), found.end(), nearer);
  std::nth_element(found.begin(), end_of(wanted - 1), end_of(least), nearer);
  const float bound = found[wanted - 1].distance + own_error(scratch);
  const auto end = std::partition(end_of(least), found.end(),
                                  [&](const Found& item) { return item.distance <= bound; });
  found.erase(end, found.end());
}

}  // namespace sibyl::index
