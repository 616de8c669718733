#include "index/internal/graph_entries.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "simd/distance.h"
#include "simd/neighbour_scan.h"

namespace sibyl::index {
namespace {

constexpr size_t kBlocksMax = 32;
/// Nodes looked at for each entry.
constexpr size_t kSample = 12;
/// While twice as many entries leave less than this share of the squared distances to the nearest
/// one, clusters were without any.
constexpr double kStillFar = 0.5;
constexpr size_t kDoublings = 2;
constexpr uint64_t kFurtherStream = 9;

class Chooser {
 public:
  Chooser(std::span<const float> vectors, size_t dimension, uint32_t entry, size_t sample,
          uint64_t seed)
      : vectors_(vectors), dimension_(dimension), random_(seed, 3), entries_{entry} {
    const size_t count = vectors.size() / dimension;
    sample = std::min(sample, count);
    for (size_t i = 0; i < sample; ++i) {  // one by chance of each stretch of the numbers
      const size_t first = i * count / sample;
      const size_t last = (i + 1) * count / sample;
      nodes_.push_back(static_cast<uint32_t>(first + random_.below(last - first)));
    }
    distances_.assign(nodes_.size(), HUGE_VAL);
    see(entry);
  }

  /// Draws entries until there are `wanted`; false when all of the sample are entries.
  bool grow(size_t wanted) {
    while (entries_.size() < wanted) {
      const double all = far();
      if (!(all > 0)) {
        return false;
      }
      double left = random_.uniform() * all;
      size_t at = 0;
      while (at + 1 < nodes_.size() && (left -= distances_[at]) >= 0) {
        ++at;
      }
      while (distances_[at] <= 0) {  // rounding led behind the last one
        at = (at + 1) % nodes_.size();
      }
      entries_.push_back(nodes_[at]);
      see(nodes_[at]);
    }
    return true;
  }
  /// Sum of the squared distances of the sample to the entries.
  double far() const {
    double sum = 0;
    for (const double distance : distances_) {
      sum += distance;
    }
    return sum;
  }
  std::vector<uint32_t> take() { return std::move(entries_); }

 private:
  void see(uint32_t entry) {
    const float* from = vectors_.data() + entry * dimension_;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const float* to = vectors_.data() + nodes_[i] * dimension_;
      // Where squares overflow, everything is equally far.
      const double distance =
          nodes_[i] == entry ? 0.0 : std::min(simd::squared_l2(from, to, dimension_), 3e38F);
      distances_[i] = std::min(distances_[i], distance);
    }
  }

  std::span<const float> vectors_;
  size_t dimension_;
  base::Random random_;
  std::vector<uint32_t> entries_;
  std::vector<uint32_t> nodes_;
  std::vector<double> distances_;  ///< Beside nodes_: to the nearest entry.
};

/// Adds nodes at random until there are `wanted`, in the order in which they are drawn.
void draw_further(size_t count, size_t wanted, uint64_t seed, std::vector<uint32_t>& nodes) {
  std::vector<bool> drawn(count);
  for (const uint32_t node : nodes) {
    drawn[node] = true;
  }
  base::Random random(seed, kFurtherStream);
  while (nodes.size() < wanted) {
    const auto node = static_cast<uint32_t>(random.below(count));
    if (!drawn[node]) {
      drawn[node] = true;
      nodes.push_back(node);
    }
  }
}

}  // namespace

GraphEntries choose_entries(std::span<const float> vectors, size_t dimension,
                            const NeighbourGraph& graph, size_t entries_max, uint64_t seed) {
  const size_t count = vectors.size() / dimension;
  const auto root = static_cast<size_t>(std::sqrt(static_cast<double>(count)));
  size_t wanted =
      std::clamp<size_t>((root + simd::kScanLanes - 1) / simd::kScanLanes, 1, kBlocksMax) *
      simd::kScanLanes;
  Chooser chooser(vectors, dimension, graph.entry, (wanted << kDoublings) * kSample, seed);
  bool more = chooser.grow(wanted);
  for (size_t i = 0; more && i < kDoublings; ++i) {
    const double before = chooser.far();
    Chooser larger = chooser;
    more = larger.grow(2 * wanted);
    if (larger.far() > kStillFar * before) {
      break;
    }
    chooser = std::move(larger);
    wanted *= 2;
  }
  GraphEntries entries;
  entries.nodes = chooser.take();
  entries.always = entries.nodes.size();
  // Whole blocks before them, and at most half of the nodes, so that drawing ends.
  if (entries.always % simd::kScanLanes == 0) {
    draw_further(count, std::min(entries_max, count / 2), seed, entries.nodes);
  }
  return entries;
}

}  // namespace sibyl::index
