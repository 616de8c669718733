#include <algorithm>

#include "index/internal/graph_step.h"
#include "index/internal/graph_walk.h"

namespace sibyl::index {
namespace {

using namespace graph_step;

/// Deviations of the difference of two own distances that are reckoned with.
constexpr float kDeviations = 5;
}  // namespace

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
