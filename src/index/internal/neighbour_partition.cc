#include "index/internal/neighbour_partition.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "index/internal/neighbour_candidates.h"
#include "index/internal/neighbour_packed.h"

namespace sibyl::index {
namespace {

constexpr size_t kLeadersMax = 8192;
// A leaf is aimed at this share of the largest, since sizes differ by much.
constexpr double kLeafFill = 0.4;
constexpr size_t kBlock = 256;

using Groups = std::vector<std::vector<uint32_t>>;

/// The `out.size()` nearest leaders of one node as candidates, nearest first.
void nearest_leaders(std::span<const float> distances, std::span<Candidate> out) {
  constexpr size_t kTogether = 256;
  std::array<uint32_t, kTogether + simd::kPanelRows> places = {};
  size_t found = 0;
  for (size_t first = 0; first < distances.size(); first += kTogether) {
    const size_t count = std::min(kTogether, distances.size() - first);
    // Equal distances go to the lower number, which came before.
    const float bound = found < out.size() ? HUGE_VALF : candidate_distance(out.back());
    const size_t near = simd::places_below(distances.data() + first, count, bound, places.data());
    for (const uint32_t at : std::span(places).first(near)) {
      const size_t leader = first + at;
      const Candidate candidate = make_candidate(distances[leader], static_cast<uint32_t>(leader));
      if (found == out.size() && candidate >= out.back()) {
        continue;
      }
      size_t place = found < out.size() ? found++ : found - 1;
      for (; place > 0 && out[place - 1] > candidate; --place) {
        out[place] = out[place - 1];
      }
      out[place] = candidate;
    }
  }
}

double leaf_aim(const PartitionSettings& settings) {
  return kLeafFill * static_cast<double>(settings.leaf_max);
}

void add_leaf(std::span<const uint32_t> nodes, NeighbourLeaves& leaves) {
  leaves.members.insert(leaves.members.end(), nodes.begin(), nodes.end());
  leaves.first.push_back(leaves.members.size());
}

/// One carving of a group around random leaders of it.
class Carving {
 public:
  /// Into groups of about `aim` nodes, each node in `copies` of them.
  Carving(const NeighbourSpace& space, std::span<const uint32_t> nodes, double aim, size_t copies,
          base::Random random)
      : space_(space), nodes_(nodes) {
    const double wished = std::ceil(static_cast<double>(nodes.size() * copies) / aim);
    leaders_ =
        std::min({std::max<size_t>(2, static_cast<size_t>(wished)), kLeadersMax, nodes.size()});
    std::vector<uint32_t> order(nodes.begin(), nodes.end());
    for (size_t i = 0; i < leaders_; ++i) {
      std::swap(order[i], order[i + random.below(order.size() - i)]);
    }
    packed_.pack(space, std::span(order).first(leaders_));
    copies_ = std::min(copies, leaders_);
    nearest_.resize(nodes.size() * copies_);
  }

  /// Finds the leaders of nodes [first, last). May run on several threads for different nodes.
  void assign(size_t first, size_t last) {
    std::vector<Candidate> nearest(copies_);
    PackedNodes part;
    part.pack(space_, nodes_.subspan(first, last - first));
    const size_t stride = packed_.norms.size();
    std::vector<float> distances(simd::kPanelRows * stride);
    for (size_t panel = 0; panel < part.panel_count(); ++panel) {
      part.distances_of_panel(panel, packed_, 0, distances.data());
      const size_t begin = first + panel * simd::kPanelRows;
      for (size_t node = begin; node < std::min(last, begin + simd::kPanelRows); ++node) {
        nearest_leaders(std::span(distances).subspan((node - begin) * stride, leaders_), nearest);
        std::transform(nearest.begin(), nearest.end(),
                       nearest_.begin() + static_cast<std::ptrdiff_t>(node * copies_),
                       candidate_node);
      }
    }
  }

  Groups groups() const {
    Groups groups(leaders_);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (size_t copy = 0; copy < copies_; ++copy) {
        groups[nearest_[i * copies_ + copy]].push_back(nodes_[i]);
      }
    }
    return groups;
  }

 private:
  const NeighbourSpace& space_;
  std::span<const uint32_t> nodes_;
  size_t leaders_ = 0;
  size_t copies_ = 0;
  PackedNodes packed_;
  std::vector<uint32_t> nearest_;  ///< [nodes x copies]: leaders.
};

/// Adds the leaves of one group.
void split(const NeighbourSpace& space, const PartitionSettings& settings,
           std::vector<uint32_t> nodes, uint64_t stream, NeighbourLeaves& leaves) {
  if (nodes.size() <= settings.leaf_max) {
    if (!nodes.empty()) {
      add_leaf(nodes, leaves);
    }
    return;
  }
  Groups groups;
  {
    Carving carving(space, nodes, leaf_aim(settings), 1, base::Random(settings.seed, stream));
    for (size_t first = 0; first < nodes.size(); first += kBlock) {
      carving.assign(first, std::min(nodes.size(), first + kBlock));
    }
    groups = carving.groups();
  }
  const bool parted = std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
    return group.size() * 10 <= nodes.size() * 9;
  });
  if (parted) {
    for (size_t i = 0; i < groups.size(); ++i) {
      split(space, settings, std::move(groups[i]), stream * (kLeadersMax + 1) + i + 1, leaves);
    }
    return;
  }
  // Nearly all are equally far from everything: chance separates as well as distance.
  base::Random(settings.seed, ~stream).shuffle(nodes);
  for (size_t at = 0; at < nodes.size(); at += settings.leaf_max) {
    add_leaf(std::span(nodes).subspan(at, std::min(settings.leaf_max, nodes.size() - at)), leaves);
  }
}

}  // namespace

Result<NeighbourLeaves> partition_neighbours(const NeighbourSpace& space,
                                             std::span<const uint32_t> nodes,
                                             const PartitionSettings& settings, double share,
                                             NeighbourWork& work) {
  NeighbourLeaves leaves;
  leaves.first.push_back(0);
  if (nodes.size() <= settings.leaf_max) {
    add_leaf(nodes, leaves);
    return leaves;
  }
  Groups groups;
  {
    Carving carving(space, nodes, settings.leaves_per_group * leaf_aim(settings), settings.copies,
                    base::Random(settings.seed, 1));
    auto done = work.for_blocks(
        nodes.size(), kBlock, share * 0.6,
        [&](size_t first, size_t last, size_t /*worker*/) { carving.assign(first, last); });
    if (!done) {
      return pass_on(done);
    }
    groups = carving.groups();
  }
  std::vector<NeighbourLeaves> parts(groups.size());
  auto done = work.for_each(groups.size(), share * 0.4, [&](size_t i, size_t /*worker*/) {
    parts[i].first.push_back(0);
    split(space, settings, std::move(groups[i]), i + 2, parts[i]);
  });
  if (!done) {
    return pass_on(done);
  }
  leaves.members.reserve(nodes.size() * settings.copies);
  for (NeighbourLeaves& part : parts) {
    for (size_t leaf = 0; leaf < part.count(); ++leaf) {
      add_leaf(part.of(leaf), leaves);
    }
    part = {};
  }
  return leaves;
}

}  // namespace sibyl::index
