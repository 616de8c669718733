#include "index/internal/graph_walk.h"

#include <algorithm>
#include <array>

#include "index/internal/graph_step.h"

namespace sibyl::index {
namespace {

using namespace graph_step;

/// Expansions after which the affinity of a filter is looked at.
constexpr size_t kProbes = 16;
/// Of the entry points that a walk looks at, those from which it begins.
constexpr size_t kEntriesKept = simd::kPoolBatch;
/// Blocks of them that are worth looking at for so many candidates more: one costs a tenth of an
/// expansion.
constexpr size_t kEffortPerBlock = 2;

/// The nearest entry points alone remain in the pool, and only they count as visited: the others
/// may be come by again.
void leave_entries(const GraphNodes& graph, size_t effort, WalkScratch& scratch) {
  scratch.reset_visited(graph.count);
  std::array<float, simd::kPoolBatchRoom> distances{};
  std::array<uint32_t, simd::kPoolBatchRoom> nodes{};
  const auto items = scratch.pool.nearest(kEntriesKept);
  std::transform(items.begin(), items.end(), nodes.begin(), CandidatePool::node_of);
  scratch.visit(distances.data(), nodes.data(), items.size());
  scratch.pool.set_capacity(effort);
}

template <class Nodes>
void enter(const GraphNodes& graph, const Nodes& inside, WalkScratch& scratch) {
  const EntryLayout& layout = graph.entry_layout;
  const size_t effort = scratch.pool.capacity();
  const size_t blocks =
      std::min(graph.entry_blocks, std::max(graph.entry_blocks_always, effort / kEffortPerBlock));
  scratch.pool.set_capacity(std::min(effort, kEntriesKept));
  std::array<float, simd::kScanLanes> estimates;
  for (size_t i = 0; i < blocks; ++i) {
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
  leave_entries(graph, effort, scratch);
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

}  // namespace sibyl::index
