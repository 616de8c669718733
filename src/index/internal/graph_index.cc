#include "index/internal/graph_index.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>

#include "index/internal/exact_rows.h"
#include "index/internal/graph_request.h"

namespace sibyl::index {
namespace {

/// Smaller indexes lie in the caches whatever their pages.
constexpr size_t kArenaBytesMin = size_t{8} << 20;
constexpr size_t kNodesAStep = 1024;
constexpr size_t kScratchMax = 64;
/// A wake-up that is missed costs no more than this.
constexpr std::chrono::milliseconds kSearchWaitMost{500};

}  // namespace

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
    copier_ = std::jthread([this](const std::stop_token& stop) {
      if (wait_for_search(stop)) {
        copy_nodes(stop);
      }
    });
  } catch (const std::system_error&) {  // no thread to be had: the map does as well
    arena_ = HugeArena();
  }
}

GraphIndex::~GraphIndex() {
  copier_ = {};  // before what it writes to goes
}

bool GraphIndex::wait_for_search(const std::stop_token& stop) {
  std::unique_lock lock(copier_mutex_);
  searched_.wait_for(lock, stop, kSearchWaitMost,
                     [this] { return is_searched_.load(std::memory_order_relaxed); });
  return !stop.stop_requested();
}

void GraphIndex::copy_nodes(const std::stop_token& stop) {
  for (size_t first = 0; first < file_nodes_.count; first += kNodesAStep) {
    if (stop.stop_requested()) {
      return;
    }
    const size_t last = std::min(first + kNodesAStep, file_nodes_.count);
    const size_t at = first * file_nodes_.node_bytes;
    const size_t bytes = (last - first) * file_nodes_.node_bytes;
    file_.expect(base::ReadPattern::Soon,
                 {reinterpret_cast<const char*>(file_nodes_.nodes + at),
                  std::min(2 * bytes, file_nodes_.count * file_nodes_.node_bytes - at)});
    std::memcpy(arena_.data() + at, file_nodes_.nodes + at, bytes);
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
         (space_.mean.size() + space_.axes.size() + space_.axis_steps.size() +
          space_.centroids.size() + space_.columns.size()) *
             sizeof(float) +
         space_.byte_axes.size() + (first_.size() + row_of_.size()) * sizeof(uint32_t);
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
  if (!is_searched_.load(std::memory_order_relaxed)) {
    is_searched_.store(true, std::memory_order_relaxed);
    searched_.notify_all();
  }
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
