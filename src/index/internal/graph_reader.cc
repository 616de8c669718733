#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "index/derived_index.h"
#include "index/internal/flat_file.h"
#include "index/internal/graph_index.h"
#include "index/internal/vector_file.h"

namespace sibyl::index {
namespace {

bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

bool plausible(const GraphMeta& meta) {
  bool efforts = true;
  for (const uint32_t effort : meta.efforts) {
    efforts = efforts && (meta.vectors == 0 || (effort > 0 && effort <= kGraphEffortMax));
  }
  return meta.dimension > 0 && meta.dimension <= kVectorDimensionMax && meta.metric <= 1 &&
         meta.degree > 0 && meta.degree <= kGraphDegreeMax && meta.degree % simd::kScanLanes == 0 &&
         meta.head <= meta.dimension && meta.groups <= simd::kScanGroupsMax &&
         meta.groups <= meta.head && meta.entries <= kGraphEntriesMax &&
         meta.entries % simd::kScanLanes == 0 && meta.entries_always <= meta.entries &&
         meta.entries_always % simd::kScanLanes == 0 &&
         (meta.entries_always > 0) == (meta.vectors > 0) && meta.vectors <= kGraphVectorsMax &&
         std::isfinite(meta.unit) && meta.unit > 0 && meta.recall_max >= 0 &&
         meta.recall_max <= 1 && efforts;
}

/// Sizes of groups and their sum.
bool read_space(const CheckedFile& file, const GraphMeta& meta, CodeSpace& space) {
  std::span<const float> mean;
  std::span<const float> axes;
  std::span<const uint8_t> groups;
  std::span<const float> centroids;
  if (!file.array(kGraphMean, meta.dimension, mean) ||
      !file.array(kGraphAxes, uint64_t{meta.head} * meta.dimension, axes) ||
      !file.array(kGraphGroups, meta.groups, groups) ||
      !file.array(kGraphCentroids, uint64_t{meta.head} * 16, centroids) || !finite(mean) ||
      !finite(axes) || !finite(centroids)) {
    return false;
  }
  size_t head = 0;
  for (const uint8_t size : groups) {
    if (size != 1 && size != 2 && size != 4) {
      return false;
    }
    head += size;
  }
  space.metric = meta.metric == 0 ? Metric::kInnerProduct : Metric::kSquaredL2;
  space.unit = meta.unit;
  space.mean.assign(mean.begin(), mean.end());
  space.axes.assign(axes.begin(), axes.end());
  space.group_size.assign(groups.begin(), groups.end());
  space.centroids.assign(centroids.begin(), centroids.end());
  if (head != meta.head) {
    return false;
  }
  space.prepare_queries();
  return true;
}

/// Views of the nodes; every number of a node is in bounds, or, with `later`, judged in each walk.
bool read_nodes(const CheckedFile& file, const GraphMeta& meta, bool later, GraphNodes& out) {
  out.is_checked = !later;
  out.layout = {meta.dimension, meta.degree, meta.groups};
  out.entry_layout = {meta.groups};
  out.node_bytes = out.layout.bytes();
  out.count = meta.vectors;
  out.entry_blocks = meta.entries / simd::kScanLanes;
  out.entry_blocks_always = meta.entries_always / simd::kScanLanes;
  std::span<const uint8_t> entries;
  std::span<const uint8_t> nodes;
  if (!file.array(kGraphEntries, out.entry_blocks * out.entry_layout.bytes(), entries) ||
      !file.array(kGraphNodes, uint64_t{meta.vectors} * out.node_bytes, nodes)) {
    return false;
  }
  out.entries = entries.data();
  out.nodes = nodes.data();
  const auto below = [&](const uint32_t* numbers, size_t count) {
    return std::all_of(numbers, numbers + count, [&](uint32_t i) { return i < meta.vectors; });
  };
  bool right = true;
  for (size_t i = 0; i < out.entry_blocks && right; ++i) {
    const uint8_t* block = out.entries + i * out.entry_layout.bytes();
    right = below(reinterpret_cast<const uint32_t*>(block + out.entry_layout.nodes_at()),
                  simd::kScanLanes);
  }
  return right && (later || are_neighbours_right(out, out.nodes, 0, out.count));
}

}  // namespace

Result<std::unique_ptr<VectorIndex>> open_graph_index(std::shared_ptr<const base::FileView> file,
                                                      const std::string& path,
                                                      std::shared_ptr<const VectorIndex> vectors,
                                                      bool later) {
  constexpr std::array kLater = {kGraphNodes};
  Result<CheckedFile> opened =
      CheckedFile::open(std::move(file), path, kGraphMagic, kGraphVersion,
                        later ? std::span<const uint32_t>(kLater) : std::span<const uint32_t>(),
                        base::ReadPattern::Singly);
  if (!opened) {
    return pass_on(opened);
  }
  std::span<const GraphMeta> meta;
  if (!opened->array(kGraphMeta, 1, meta)) {
    return damaged(path, "its description has a wrong size");
  }
  const GraphMeta about = meta.front();
  if (!plausible(about)) {
    return damaged(path, "its description has a number that is not one that is written");
  }
  std::vector<uint32_t> first = first_vectors(*vectors);
  const VectorOrigin origin{about.rows, about.vectors, about.fingerprint, about.dimension};
  if (auto same = check_origin(origin, *vectors, first, path); !same) {
    return pass_on(same);
  }
  CodeSpace space;
  GraphNodes nodes;
  if (!read_space(*opened, about, space) || !read_nodes(*opened, about, later, nodes)) {
    return damaged(path, "a section's size or a node's number does not fit its description");
  }
  return std::make_unique<GraphIndex>(std::move(*opened), about, std::move(space), nodes,
                                      std::move(vectors), std::move(first));
}

}  // namespace sibyl::index
