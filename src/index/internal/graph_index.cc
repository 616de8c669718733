#include "index/internal/graph_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>

#include "index/internal/exact_rows.h"

namespace sibyl::index {
namespace {

/// Smaller indexes lie in the caches whatever their pages.
constexpr size_t kArenaBytesMin = size_t{8} << 20;
constexpr size_t kNodesAStep = 1024;
constexpr size_t kScratchMax = 64;
/// Nodes that are measured by their own codes in the time that one is expanded.
constexpr double kScansAnExpansion = 9;
/// Candidates more for each wanted neighbour beyond the ten that efforts are calibrated for.
constexpr double kEffortANeighbour = 1.8;
constexpr size_t kCalibratedNeighbours = 10;
/// Filters that leave a smaller share are first tried from inside.
constexpr double kFewShare = 0.3;
/// Share of a node's neighbours that must be in the filter for a walk inside it.
constexpr float kAffinityMin = 0.25F;
/// Effort of a walk whose answers are filtered, which is not what efforts are calibrated for, as a
/// multiple of that without filter.
constexpr double kFilteredEffort = 1.4;
/// Effort of a walk inside, whose nodes have fewer neighbours, as a multiple of that without
/// filter.
constexpr double kInsideEffort = 2;
/// Nodes of the filter that such a walk begins from, a root of how many are allowed: as many again
/// are looked at after it.
constexpr double kSeedsARoot = 2;
constexpr size_t kSeedsMin = 32;
constexpr size_t kSeedsMax = 1024;

/// A plain walk is repeated, wider, where the answers lie so many times deeper than thought.
constexpr double kDeeper = 2;

}  // namespace

struct GraphIndex::Request {
  std::span<const float> query;
  size_t wanted = 0;  ///< Rows, at most as many as are allowed.
  const RowSet* allowed = nullptr;
  size_t allowed_rows = 0;
  FilterRegime regime = FilterRegime::Chosen;
};

GraphIndex::GraphIndex(CheckedFile file, const GraphMeta& meta, CodeSpace space,
                       const GraphNodes& nodes, std::shared_ptr<const VectorIndex> vectors,
                       std::vector<uint32_t> first)
    : file_(std::move(file)),
      meta_(meta),
      space_(std::move(space)),
      file_nodes_(nodes),
      vectors_(std::move(vectors)),
      first_(std::move(first)) {
  bool one_each = rows() == meta_.vectors;
  for (size_t row = 0; one_each && row <= rows(); ++row) {
    one_each = first_[row] == row;
  }
  if (!one_each) {
    row_of_.resize(meta_.vectors);
    for (size_t row = 0; row < rows(); ++row) {
      std::fill(row_of_.begin() + first_[row], row_of_.begin() + first_[row + 1],
                static_cast<uint32_t>(row));
    }
  }
  const size_t bytes = nodes.count * nodes.node_bytes;
  if (bytes >= kArenaBytesMin) {
    arena_ = HugeArena(bytes);
  }
  if (arena_.data() == nullptr) {
    return;
  }
  try {
    copier_ = std::jthread([this](const std::stop_token& stop) { copy_nodes(stop); });
  } catch (const std::system_error&) {  // no thread to be had: the map does as well
    arena_ = HugeArena();
  }
}

GraphIndex::~GraphIndex() {
  copier_ = {};  // before what it writes to goes
}

void GraphIndex::copy_nodes(const std::stop_token& stop) {
  for (size_t first = 0; first < file_nodes_.count; first += kNodesAStep) {
    if (stop.stop_requested()) {
      return;
    }
    const size_t last = std::min(first + kNodesAStep, file_nodes_.count);
    const size_t at = first * file_nodes_.node_bytes;
    std::memcpy(arena_.data() + at, file_nodes_.nodes + at,
                (last - first) * file_nodes_.node_bytes);
    if (!file_nodes_.is_checked && !are_neighbours_right(file_nodes_, arena_.data(), first, last)) {
      return;  // the check of the file will tell
    }
  }
  hot_nodes_.store(arena_.data(), std::memory_order_release);
}

GraphNodes GraphIndex::nodes() const {
  GraphNodes nodes = file_nodes_;
  if (const uint8_t* hot = hot_nodes_.load(std::memory_order_acquire); hot != nullptr) {
    nodes.nodes = hot;
    nodes.is_checked = true;
  }
  return nodes;
}

Result<NeighbourGraph> GraphIndex::neighbour_graph() const {
  const GraphNodes from = nodes();
  if (!from.is_checked && !are_neighbours_right(from, from.nodes, 0, from.count)) {
    return fail(Code::InvalidData, "a neighbour in the graph is none of its {} nodes", from.count);
  }
  NeighbourGraph graph;
  graph.degree = meta_.degree;
  graph.neighbours.reserve(from.count * graph.degree);
  for (uint32_t node = 0; node < from.count; ++node) {
    const uint32_t* neighbours = from.neighbours(from.node(node));
    // A place without a neighbour names the node itself.
    std::transform(neighbours, neighbours + graph.degree, std::back_inserter(graph.neighbours),
                   [node](uint32_t to) { return to == node ? NeighbourGraph::kNone : to; });
  }
  return graph;
}

size_t GraphIndex::resident_bytes() const {
  return arena_.bytes() + file_nodes_.entry_blocks * file_nodes_.entry_layout.bytes() +
         (space_.mean.size() + space_.axes.size() + space_.centroids.size()) * sizeof(float) +
         (first_.size() + row_of_.size()) * sizeof(uint32_t);
}

size_t GraphIndex::mapped_bytes() const {
  return vectors_->mapped_bytes() +
         (arena_.bytes() == 0 ? meta_.vectors * file_nodes_.node_bytes : 0);
}

std::unique_ptr<WalkScratch> GraphIndex::take_scratch() const {
  const std::lock_guard lock(scratch_mutex_);
  if (scratch_.empty()) {
    return std::make_unique<WalkScratch>();
  }
  std::unique_ptr<WalkScratch> scratch = std::move(scratch_.back());
  scratch_.pop_back();
  return scratch;
}

void GraphIndex::give_scratch(std::unique_ptr<WalkScratch> scratch) const {
  const std::lock_guard lock(scratch_mutex_);
  if (scratch_.size() < kScratchMax) {
    scratch_.push_back(std::move(scratch));
  }
}

size_t GraphIndex::effort_of(const SearchOptions& options) const {
  if (options.effort > 0) {
    return std::min<size_t>(options.effort, kGraphEffortMax);
  }
  if (!(options.recall_goal > 0)) {
    return meta_.efforts[kGraphDefaultRecall];
  }
  for (size_t i = 0; i < kGraphEfforts; ++i) {
    if (options.recall_goal <= kGraphRecalls[i]) {
      return meta_.efforts[i];
    }
  }
  return meta_.efforts[kGraphEfforts - 1];
}

void GraphIndex::search(std::span<const float> query, size_t k, const RowSet* allowed,
                        std::vector<VectorHit>& out) const {
  search_with(query, k, allowed, {}, out);
}

void GraphIndex::search_with(std::span<const float> query, size_t k, const RowSet* allowed,
                             const SearchOptions& options, std::vector<VectorHit>& out) const {
  Request request{query, 0, allowed, allowed == nullptr ? rows() : allowed->count()};
  search_request(request, k, options, out);
}

void GraphIndex::search_in(FilterRegime regime, std::span<const float> query, size_t k,
                           const RowSet& allowed, size_t effort,
                           std::vector<VectorHit>& out) const {
  Request request{query, 0, &allowed, allowed.count(), regime};
  search_request(request, k, {.effort = effort}, out);
}

void GraphIndex::search_request(Request& request, size_t k, const SearchOptions& options,
                                std::vector<VectorHit>& out) const {
  out.clear();
  request.wanted = std::min(k, request.allowed_rows);
  if (request.wanted == 0 || meta_.vectors == 0) {
    return;
  }
  std::unique_ptr<WalkScratch> scratch = take_scratch();
  search_rows(request, options, *scratch, out);
  give_scratch(std::move(scratch));
}

void GraphIndex::search_rows(const Request& request, const SearchOptions& options,
                             WalkScratch& scratch, std::vector<VectorHit>& out) const {
  if (!scratch.query.prepare(space_, request.query)) {  // codes say nothing of such a query
    collect_rows(request.allowed, rows(), scratch.rows);
    rank_exact(request, scratch.rows, out);
    return;
  }
  find_allowed(request, effort_of(options), scratch);
  rank(request, scratch, out);
}

double GraphIndex::vectors_allowed(const Request& request) const {
  return static_cast<double>(request.allowed_rows) * static_cast<double>(meta_.vectors) /
         static_cast<double>(std::max<size_t>(rows(), 1));
}

void GraphIndex::find_allowed(const Request& request, size_t effort, WalkScratch& scratch) const {
  const double scans = vectors_allowed(request);
  if (request.regime == FilterRegime::Inside) {
    walk_filter(request, effort, scratch);
  } else if (request.regime == FilterRegime::Among) {
    walk_allowed(request, effort, scratch);
  } else if (request.regime == FilterRegime::Scan ||
             static_cast<double>(effort + request.wanted) * kScansAnExpansion >= scans) {
    scan_allowed(request, scratch);
  } else if (scans >= kFewShare * static_cast<double>(meta_.vectors) ||
             !walk_filter(request, effort, scratch)) {
    walk_allowed(request, effort, scratch);
  }
}

void GraphIndex::choose_seeds(const Request& request, std::vector<uint32_t>& out) const {
  out.clear();
  const auto root = static_cast<size_t>(std::sqrt(vectors_allowed(request)) * kSeedsARoot);
  const size_t seeds = 2 * std::clamp(root, kSeedsMin, kSeedsMax);
  const std::span<const uint64_t> words = request.allowed->words();
  size_t before = 0;  // rows of the set in earlier words
  size_t seed = 0;
  for (size_t word = 0; word < words.size() && seed < seeds; ++word) {
    const auto here = static_cast<size_t>(std::popcount(words[word]));
    for (; seed < seeds && seed * request.allowed_rows / seeds < before + here; ++seed) {
      uint64_t bits = words[word];
      for (size_t skip = seed * request.allowed_rows / seeds - before; skip > 0; --skip) {
        bits &= bits - 1;
      }
      const size_t row = word * 64 + static_cast<size_t>(std::countr_zero(bits));
      if (first_[row] < first_[row + 1]) {
        out.push_back(first_[row]);
      }
    }
    before += here;
  }
  // Every other one is kept for the look afterwards.
  const size_t half = (out.size() + 1) / 2;
  for (size_t i = 1; i < half; ++i) {
    std::swap(out[i], out[2 * i]);
  }
}

bool GraphIndex::walk_filter(const Request& request, size_t effort, WalkScratch& scratch) const {
  const size_t more =
      request.wanted > kCalibratedNeighbours
          ? static_cast<size_t>(static_cast<double>(request.wanted) * kEffortANeighbour)
          : 0;
  choose_seeds(request, scratch.seeds);
  const size_t half = (scratch.seeds.size() + 1) / 2;
  const auto wider = static_cast<size_t>(static_cast<double>(effort) * kInsideEffort);
  return walk_inside(nodes(), {request.allowed, row_of_},
                     std::span<const uint32_t>(scratch.seeds).first(half), wider + more,
                     request.regime == FilterRegime::Inside ? 0 : kAffinityMin, scratch) &&
         keep_allowed(request, scratch) >= request.wanted &&
         !overlooked(request, std::span<const uint32_t>(scratch.seeds).subspan(half), scratch);
}

bool GraphIndex::overlooked(const Request& request, std::span<const uint32_t> others,
                            WalkScratch& scratch) const {
  const auto last = scratch.found.begin() + static_cast<ptrdiff_t>(request.wanted - 1);
  std::nth_element(scratch.found.begin(), last, scratch.found.end(),
                   [](const Found& a, const Found& b) { return a.distance < b.distance; });
  const float farthest = last->distance;
  const GraphNodes graph = nodes();
  return std::any_of(others.begin(), others.end(), [&](uint32_t node) {
    return !scratch.visited(node) && own_distance(graph, node, scratch) < farthest;
  });
}

void GraphIndex::walk_allowed(const Request& request, size_t effort, WalkScratch& scratch) const {
  const GraphNodes graph = nodes();
  const double scans = vectors_allowed(request);
  // Vectors that lie nearer than the last wanted one, answerable or not.
  double reach = static_cast<double>(request.wanted) * static_cast<double>(meta_.vectors) /
                 static_cast<double>(request.allowed_rows);
  const size_t enough = std::min(request.allowed_rows, request.wanted + request.wanted / 4);
  const bool among = request.regime == FilterRegime::Among;
  bool inside_tried =
      among || request.allowed == nullptr || scans < kFewShare * static_cast<double>(meta_.vectors);
  for (;;) {
    const double more =
        std::max(0.0, reach - static_cast<double>(kCalibratedNeighbours)) * kEffortANeighbour;
    const double own =
        static_cast<double>(effort) * (request.allowed == nullptr ? 1 : kFilteredEffort);
    const double expansions = own + more;
    if ((!among && expansions * kScansAnExpansion >= scans) ||
        expansions >= static_cast<double>(graph.count)) {
      scan_allowed(request, scratch);
      return;
    }
    walk(graph, static_cast<size_t>(expansions), scratch);
    const size_t expanded = scratch.found.size();
    const size_t kept = keep_allowed(request, scratch);
    // Near this query fewer may be answered than overall.
    const double local =
        static_cast<double>(expanded) / static_cast<double>(std::max<size_t>(kept, 1));
    if (kept >= enough && (request.allowed == nullptr ||
                           local * static_cast<double>(request.wanted) <= kDeeper * reach)) {
      return;
    }
    if (!inside_tried) {
      inside_tried = true;
      if (walk_filter(request, effort, scratch)) {
        return;
      }
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

void GraphIndex::rank(const Request& request, WalkScratch& scratch,
                      std::vector<VectorHit>& out) const {
  std::vector<Found>& found = scratch.found;
  scratch.rows.clear();
  if (single()) {
    keep_likely(request.wanted, scratch);
    for (const Found& item : found) {
      scratch.rows.push_back(item.node);
    }
  } else {
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.node < b.node;
    });
    scratch.seen_rows.clear();
    float bound = std::numeric_limits<float>::infinity();
    for (const Found& item : found) {
      if (item.distance > bound && scratch.rows.size() >= compared_least(request.wanted)) {
        break;
      }
      if (scratch.seen_rows.insert(row_of(item.node)).second) {
        scratch.rows.push_back(row_of(item.node));
      }
      if (scratch.rows.size() == request.wanted && std::isinf(bound)) {
        bound = item.distance + own_error(scratch);
      }
    }
  }
  rank_exact(request, scratch.rows, out);
}

void GraphIndex::rank_exact(const Request& request, std::span<const uint32_t> rows,
                            std::vector<VectorHit>& out) const {
  rank_rows_exactly(*vectors_, space_.metric, request.query, rows, request.wanted, out);
}

void GraphIndex::score(std::span<const float> query, std::span<const uint32_t> rows,
                       std::span<VectorHit> out) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    out[i] = exact_row_hit(*vectors_, space_.metric, query, rows[i]);
  }
}

}  // namespace sibyl::index
