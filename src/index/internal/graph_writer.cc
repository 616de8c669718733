#include "index/internal/graph_writer.h"

#include <algorithm>

#include "base/log.h"
#include "index/internal/code_trainer.h"
#include "index/internal/flat_file.h"

namespace sibyl::index {
namespace {

/// So many nodes have one entry point among them.
constexpr size_t kNodesPerEntry = 16;
constexpr size_t kNodesTogether = 256;
/// Shares of the whole build beside that of the graph.
constexpr double kTrainShare = 0.05;
constexpr double kProjectShare = 0.02;
constexpr double kEncodeShare = 0.08;
constexpr double kCalibrateShare = 0.05;

/// All vectors, one after the other; copied only where they do not lie so.
std::span<const float> vectors_together(const VectorIndex& vectors, std::span<const uint32_t> first,
                                        std::vector<float>& copy) {
  const size_t dimension = vectors.dimension();
  const float* begin = nullptr;
  bool together = true;
  for (size_t row = 0; row < vectors.rows() && together; ++row) {
    const std::span<const float> parts = vectors.vectors_of(static_cast<uint32_t>(row));
    if (!parts.empty()) {
      begin = begin == nullptr ? parts.data() : begin;
      together = parts.data() == begin + first[row] * dimension;
    }
  }
  if (together) {
    return {begin, first.back() * dimension};
  }
  copy.reserve(first.back() * dimension);
  for (size_t row = 0; row < vectors.rows(); ++row) {
    const std::span<const float> parts = vectors.vectors_of(static_cast<uint32_t>(row));
    copy.insert(copy.end(), parts.begin(), parts.end());
  }
  return copy;
}

}  // namespace

GraphWriter::GraphWriter(const VectorIndex& vectors, const GraphSettings& settings,
                         NeighbourWork& work)
    : source_(vectors), settings_(settings), work_(work), first_(first_vectors(vectors)) {}

Result<void> GraphWriter::check_memory(size_t more_bytes) const {
  const uint64_t needed = copy_.size() * sizeof(float) + more_bytes;
  const uint64_t most = settings_.graph.memory_bytes_max;
  if (most != 0 && needed > most) {
    return fail(Code::TooLarge,
                "the graph index of {} vectors of dimension {} needs {} bytes of memory to build "
                "and may use {}; give it more or choose the flat index",
                source_.vectors(), source_.dimension(), needed, most);
  }
  return {};
}

Result<void> GraphWriter::encode(const NeighbourGraph& graph) {
  const size_t count = first_.back();
  const size_t dimension = source_.dimension();
  space_.metric = settings_.graph.metric;
  measure_space(vectors_, dimension, space_);
  if (!settings_.compact) {
    Result<void> trained =
        train_codes(vectors_, graph, std::min((dimension + 3) / 4, kGraphGroupsMax),
                    settings_.graph.seed, work_, kTrainShare, space_);
    if (!trained) {
      return trained;
    }
  }
  space_.prepare_queries();
  GraphEncoder encoder(space_, vectors_, graph);
  layout_ = encoder.layout();
  Result<void> done = check_memory(count * (layout_.bytes() + space_.head() * sizeof(float)) +
                                   graph.neighbours.size() * sizeof(uint32_t));
  if (done) {
    done = encoder.project(work_, kProjectShare);
  }
  if (!done) {
    return done;
  }
  nodes_.assign(count * layout_.bytes(), 0);
  done = work_.for_blocks(
      count, kNodesTogether, kEncodeShare, [&](size_t first, size_t last, size_t /*worker*/) {
        for (size_t i = first; i < last; ++i) {
          encoder.encode_node(static_cast<uint32_t>(i), nodes_.data() + i * layout_.bytes());
        }
      });
  if (done) {
    const size_t entries_max =
        settings_.compact ? 0 : std::min<size_t>(count / kNodesPerEntry, kGraphEntriesMax);
    encode_entries(encoder,
                   choose_entries(vectors_, dimension, graph, entries_max, settings_.graph.seed));
  }
  return done;
}

void GraphWriter::encode_entries(const GraphEncoder& encoder, const GraphEntries& entries) {
  constexpr size_t kLanes = simd::kScanLanes;
  const EntryLayout entry{space_.groups()};
  const std::span<const uint32_t> nodes(entries.nodes);
  entry_blocks_ = (nodes.size() + kLanes - 1) / kLanes;
  entry_blocks_always_ = (entries.always + kLanes - 1) / kLanes;
  entries_.assign(entry_blocks_ * entry.bytes(), 0);
  for (size_t i = 0; i < entry_blocks_; ++i) {
    const size_t first = i * kLanes;
    encoder.encode_entries(nodes.subspan(first, std::min(kLanes, nodes.size() - first)),
                           entries_.data() + i * entry.bytes());
  }
}

GraphNodes GraphWriter::nodes() const {
  return {layout_,       {space_.groups()}, layout_.bytes(), first_.back(),
          nodes_.data(), entries_.data(),   entry_blocks_,   entry_blocks_always_};
}

Result<void> GraphWriter::put(const ByteSink& sink) {
  GraphMeta meta;
  meta.rows = source_.rows();
  meta.vectors = first_.back();
  meta.fingerprint = flat_fingerprint(source_, first_);
  meta.dimension = static_cast<uint32_t>(source_.dimension());
  meta.metric = settings_.graph.metric == Metric::kInnerProduct ? 0 : 1;
  meta.degree = settings_.graph.degree;
  meta.head = static_cast<uint32_t>(space_.head());
  meta.groups = static_cast<uint32_t>(space_.groups());
  meta.entries = static_cast<uint32_t>(entry_blocks_ * simd::kScanLanes);
  meta.entries_always = static_cast<uint32_t>(entry_blocks_always_ * simd::kScanLanes);
  meta.unit = space_.unit;
  std::copy(efforts_.efforts.begin(), efforts_.efforts.end(), meta.efforts);
  meta.recall_max = efforts_.recall_max;
  space_.mean.resize(source_.dimension(), 0.0F);
  CheckedFileWriter writer(kGraphMagic, kGraphVersion,
                           {{kGraphMeta, sizeof(meta)},
                            {kGraphMean, space_.mean.size() * sizeof(float)},
                            {kGraphAxes, space_.axes.size() * sizeof(float)},
                            {kGraphGroups, space_.group_size.size()},
                            {kGraphCentroids, space_.centroids.size() * sizeof(float)},
                            {kGraphEntries, entries_.size()},
                            {kGraphNodes, nodes_.size()}},
                           sink);
  Result<void> done = writer.append_values(std::span<const GraphMeta>(&meta, 1));
  for (const std::vector<float>* part : {&space_.mean, &space_.axes}) {
    done = done ? writer.append_values(std::span<const float>(*part)) : done;
  }
  done = done ? writer.append_values(std::span<const uint8_t>(space_.group_size)) : done;
  done = done ? writer.append_values(std::span<const float>(space_.centroids)) : done;
  done = done ? writer.append_values(std::span<const uint8_t>(entries_)) : done;
  done = done ? writer.append_values(std::span<const uint8_t>(nodes_)) : done;
  return done ? writer.finish() : done;
}

Result<void> GraphWriter::write(const NeighbourGraph* given, const GraphMaker& make,
                                const BuildProgress& progress, const ByteSink& sink) {
  if (first_.back() == 0) {
    return put(sink);
  }
  vectors_ = vectors_together(source_, first_, copy_);
  NeighbourGraph built;
  if (given == nullptr) {
    const auto share = [&](double done) { return !progress || progress(done * kGraphShare); };
    Result<NeighbourGraph> graph = make(vectors_, share);
    if (!graph) {
      return pass_on(graph);
    }
    built = std::move(*graph);
  }
  Result<void> done = encode(given == nullptr ? built : *given);
  if (!done) {
    return done;
  }
  const Result<GraphEfforts> efforts =
      calibrate_efforts(nodes(), space_, vectors_, settings_.graph.seed, work_, kCalibrateShare);
  if (!efforts) {
    return tl::unexpected<Error>(efforts.error());
  }
  efforts_ = *efforts;
  if (efforts_.recall_max > 0) {
    base::log_warning("index",
                      "the graph of {} vectors finds {:.3f} of the ten nearest with the greatest "
                      "effort: searches for more than that do not reach their recall goal",
                      first_.back(), efforts_.recall_max);
  }
  return put(sink);
}

}  // namespace sibyl::index
