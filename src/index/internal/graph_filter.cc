// How a search of a graph finds its candidates under a filter (docs/decisions/111 and 179).
#include <algorithm>
#include <cmath>
#include <limits>

#include "index/internal/exact_rows.h"
#include "index/internal/graph_request.h"
#include "simd/bits.h"

namespace sibyl::index {
namespace {

/// Nodes that are measured by their own codes in the time that one is expanded.
constexpr double kScansAnExpansion = 14;
constexpr double kExactWorth = 1.1;
/// Candidates more for each wanted neighbour beyond the ten that efforts are calibrated for.
constexpr double kEffortANeighbour = 1.8;
constexpr size_t kCalibratedNeighbours = 10;
/// Effort of a walk whose answers are filtered, which is not what efforts are calibrated for, as a
/// multiple of that without filter.
constexpr double kFilteredEffort = 1.4;
/// Effort of a walk inside, whose nodes have fewer neighbours, as a multiple of that without
/// filter.
constexpr double kInsideEffort = 2.5;
/// Share of a node's neighbours that must be in the filter for a walk inside it.
constexpr float kAffinityMin = 0.12F;
/// By how much of what is possible that share must exceed the one of a filter by chance.
constexpr double kGatheredMin = 0.1;
/// Nodes of the filter whose neighbours are looked at for that before anything is walked.
constexpr size_t kAffinityNodes = 16;
/// Filters that leave such a share begin with the look: hardly any has another way to go.
constexpr double kLargeShare = 0.3;
/// Nodes that are expanded among all, and candidates that are then looked at, to see whether the
/// query lies where many may be answered.
constexpr size_t kLookExpansions = 16;
constexpr size_t kLookCandidates = 48;
constexpr double kLeastSeen = 0.5;
/// Nodes of the filter that a walk inside begins from, a root of how many are allowed: as many
/// again are looked at after it.
constexpr double kSeedsARoot = 2;
constexpr size_t kSeedsMin = 32;
constexpr size_t kSeedsMax = 1024;
/// A walk among all is repeated, wider, where the answers lie so many times deeper than thought.
constexpr double kDeeper = 2;

/// Candidates for the neighbours beyond those that efforts are calibrated for.
double candidates_beyond(double neighbours) {
  return std::max(0.0, neighbours - static_cast<double>(kCalibratedNeighbours)) * kEffortANeighbour;
}

/// Of a walk among all, where `reach` vectors, answerable or not, are not farther than the last
/// wanted one.
double expansions_among(size_t effort, bool filtered, double reach) {
  return static_cast<double>(effort) * (filtered ? kFilteredEffort : 1) + candidates_beyond(reach);
}

double expansions_inside(size_t effort, size_t wanted) {
  return static_cast<double>(effort) * kInsideEffort +
         (wanted > kCalibratedNeighbours ? static_cast<double>(wanted) * kEffortANeighbour : 0);
}

/// A scan answers exactly, which a walk as long does not.
double scan_expansions(double vectors) {
  return vectors / kScansAnExpansion / kExactWorth;
}

size_t seeds_of(double vectors) {
  return std::clamp(static_cast<size_t>(std::sqrt(vectors) * kSeedsARoot), kSeedsMin, kSeedsMax);
}

}  // namespace

double GraphIndex::vectors_allowed(const Request& request) const {
  return static_cast<double>(request.allowed_rows) * static_cast<double>(meta_.vectors) /
         static_cast<double>(std::max<size_t>(rows(), 1));
}

bool GraphIndex::is_large(const Request& request) const {
  return static_cast<double>(request.allowed_rows) >= kLargeShare * static_cast<double>(rows());
}

double GraphIndex::reach_of(const Request& request) const {
  return static_cast<double>(request.wanted) * static_cast<double>(meta_.vectors) /
         static_cast<double>(request.allowed_rows);
}

void GraphIndex::find_allowed(const Request& request, size_t effort, WalkScratch& scratch) const {
  const double reach = reach_of(request);
  if (request.regime == FilterRegime::Scan) {
    scan_allowed(request, scratch);
  } else if (request.regime == FilterRegime::Inside) {
    walk_filter(request, effort, scratch);
  } else if (request.regime == FilterRegime::Among || request.allowed == nullptr) {
    walk_allowed(request, effort, reach, false, scratch);
  } else if (scan_expansions(vectors_allowed(request)) <=
             expansions_among(effort, true, 0) + static_cast<double>(kLookExpansions)) {
    scan_allowed(request, scratch);  // less than a look and the shortest walk
  } else if (is_large(request) || is_gathered(request, scratch)) {
    find_near(request, effort, scratch);
  } else {
    walk_allowed(request, effort, reach, false, scratch);
  }
}

void GraphIndex::find_near(const Request& request, size_t effort, WalkScratch& scratch) const {
  const double scans = vectors_allowed(request);
  const double seeds = 2 * static_cast<double>(seeds_of(scans)) / kScansAnExpansion;
  const double inside = expansions_inside(effort, request.wanted) + seeds;
  const double scan = scan_expansions(scans);
  const double reach = reach_of(request);
  const double reach_least = reach * scans / static_cast<double>(meta_.vectors);
  // Where half of what is near may be answered the walk goes on from the look; a greater pool
  // would cost those searches that then go another way.
  const bool large = is_large(request);
  const double room = expansions_among(effort, true, std::max(2 * reach_least, large ? reach : 0));
  const double share = look_around(request, static_cast<size_t>(room), scratch);
  const double reach_here = reach_least / share;
  const double among = expansions_among(effort, true, reach_here);
  if (among <= std::min(inside, scan)) {
    walk_allowed(request, effort, reach_here, among <= room, scratch);
  } else if (scan <= inside) {
    scan_allowed(request, scratch);
  } else if ((large && !is_gathered(request, scratch)) || !walk_filter(request, effort, scratch)) {
    walk_allowed(request, effort, std::max(reach, reach_here), false, scratch);
  }
}

double GraphIndex::look_around(const Request& request, size_t capacity,
                               WalkScratch& scratch) const {
  begin_walk(nodes(), capacity, scratch);
  go_on_walk(nodes(), kLookExpansions, scratch);
  const std::span<const uint32_t> near = scratch.pool.nearest(kLookCandidates);
  const auto allowed = std::count_if(near.begin(), near.end(), [&](uint32_t item) {
    return request.allowed->contains(row_of(CandidatePool::node_of(item)));
  });
  // None of so few may be half a one of twice as many.
  return std::max(static_cast<double>(allowed), kLeastSeen) /
         static_cast<double>(std::max<size_t>(near.size(), 1));
}

void GraphIndex::choose_seeds(const Request& request, size_t count, WalkScratch& scratch) const {
  scratch.places.clear();
  for (size_t i = 0; i < count; ++i) {
    scratch.places.push_back(i * request.allowed_rows / count);
  }
  scratch.places.resize(
      simd::select_bits(request.allowed->words(), scratch.places, scratch.places.data()));
  scratch.seeds.clear();
  for (const size_t row : scratch.places) {
    if (first_[row] < first_[row + 1]) {
      scratch.seeds.push_back(first_[row]);
    }
  }
}

bool GraphIndex::is_gathered(const Request& request, WalkScratch& scratch) const {
  choose_seeds(request, kAffinityNodes, scratch);
  const GraphNodes graph = nodes();
  for (const uint32_t seed : scratch.seeds) {
    prefetch_neighbours(graph, seed);
  }
  size_t inside = 0;
  for (const uint32_t seed : scratch.seeds) {
    inside += neighbours_inside(graph, {request.allowed, row_of_}, seed);
  }
  const double affinity =
      static_cast<double>(inside) /
      static_cast<double>(std::max<size_t>(scratch.seeds.size() * meta_.degree, 1));
  const double share = vectors_allowed(request) / static_cast<double>(meta_.vectors);
  return affinity >= kAffinityMin && affinity - share >= kGatheredMin * (1 - share);
}

bool GraphIndex::walk_filter(const Request& request, size_t effort, WalkScratch& scratch) const {
  choose_seeds(request, 2 * seeds_of(vectors_allowed(request)), scratch);
  // Every other one is kept for the look afterwards.
  std::vector<uint32_t>& seeds = scratch.seeds;
  const size_t half = (seeds.size() + 1) / 2;
  for (size_t i = 1; i < half; ++i) {
    std::swap(seeds[i], seeds[2 * i]);
  }
  const GraphNodes graph = nodes();
  const NodeFilter filter{request.allowed, row_of_};
  if (!walk_inside(graph, filter, std::span<const uint32_t>(seeds).first(half),
                   static_cast<size_t>(expansions_inside(effort, request.wanted)),
                   request.regime == FilterRegime::Inside ? 0 : kAffinityMin, scratch)) {
    return false;
  }
  if (enter_islands(graph, std::span<const uint32_t>(seeds).subspan(half), request.wanted,
                    scratch)) {
    go_on_inside(graph, filter, scratch);
  }
  return keep_allowed(request, scratch) >= request.wanted;
}

bool GraphIndex::enter_islands(const GraphNodes& graph, std::span<const uint32_t> others,
                               size_t wanted, WalkScratch& scratch) const {
  float farthest = std::numeric_limits<float>::infinity();
  if (scratch.found.size() >= wanted) {
    const auto last = scratch.found.begin() + static_cast<ptrdiff_t>(wanted - 1);
    std::nth_element(scratch.found.begin(), last, scratch.found.end(),
                     [](const Found& a, const Found& b) { return a.distance < b.distance; });
    farthest = last->distance;
  }
  bool entered = false;
  for (uint32_t node : others) {
    if (scratch.visited(node)) {
      continue;
    }
    float distance = own_distance(graph, node, scratch);
    if (distance < farthest && scratch.visit(&distance, &node, 1) == 1) {
      scratch.pool.insert_one(distance, node);
      entered = true;
    }
  }
  return entered;
}

void GraphIndex::walk_allowed(const Request& request, size_t effort, double reach, bool begun,
                              WalkScratch& scratch) const {
  const GraphNodes graph = nodes();
  const double scans = vectors_allowed(request);
  const auto wanted = static_cast<double>(request.wanted);
  const size_t enough = std::min(request.allowed_rows, request.wanted + request.wanted / 4);
  const bool filtered = request.allowed != nullptr;
  for (;;) {
    const double expansions = expansions_among(effort, filtered, reach);
    const bool is_dear = expansions * kScansAnExpansion >= scans && !begun;
    if ((is_dear && request.regime != FilterRegime::Among) ||
        expansions >= static_cast<double>(graph.count)) {
      scan_allowed(request, scratch);
      return;
    }
    if (begun) {
      scratch.pool.shrink(static_cast<size_t>(expansions));
      go_on_walk(graph, SIZE_MAX, scratch);
      begun = false;
    } else {
      walk(graph, static_cast<size_t>(expansions), scratch);
    }
    const auto expanded = static_cast<double>(scratch.found.size());
    const size_t kept = keep_allowed(request, scratch);
    // Near this query fewer may be answered than was thought.
    const double local = expanded / static_cast<double>(std::max<size_t>(kept, 1));
    if (kept >= enough && (!filtered || local * wanted <= kDeeper * reach)) {
      return;
    }
    reach = std::max(2 * reach, local * static_cast<double>(enough));
  }
}

void GraphIndex::scan_allowed(const Request& request, WalkScratch& scratch) const {
  collect_rows(request.allowed, rows(), scratch.rows);
  if (!single()) {
    std::vector<uint32_t> nodes;
    for (const uint32_t row : scratch.rows) {
      for (uint32_t vector = first_[row]; vector < first_[row + 1]; ++vector) {
        nodes.push_back(vector);
      }
    }
    scratch.rows.swap(nodes);
  }
  measure(nodes(), scratch.rows, scratch);
}

size_t GraphIndex::keep_allowed(const Request& request, WalkScratch& scratch) const {
  if (request.allowed != nullptr) {
    std::erase_if(scratch.found, [&](const Found& found) {
      return !request.allowed->contains(row_of(found.node));
    });
  }
  if (single()) {
    return scratch.found.size();
  }
  scratch.rows.clear();
  for (const Found& found : scratch.found) {
    scratch.rows.push_back(row_of(found.node));
  }
  std::sort(scratch.rows.begin(), scratch.rows.end());
  return static_cast<size_t>(std::unique(scratch.rows.begin(), scratch.rows.end()) -
                             scratch.rows.begin());
}

}  // namespace sibyl::index
