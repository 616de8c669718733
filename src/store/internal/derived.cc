#include "store/internal/derived.h"

#include <algorithm>

namespace sibyl::store {
namespace {

constexpr uint32_t kGraphDegree = 32;
constexpr uint64_t kIndexSeed = 1;

std::shared_ptr<const StackedVectors> stack(std::span<const SegmentState> segments, size_t field) {
  std::vector<std::shared_ptr<const index::VectorIndex>> parts;
  parts.reserve(segments.size());
  for (const SegmentState& segment : segments) {
    parts.push_back(segment.vectors[field]);
  }
  return std::make_shared<const StackedVectors>(std::move(parts));
}

index::GraphSettings graph_settings(const DatabaseOptions& options) {
  index::GraphSettings settings;
  settings.graph.degree = kGraphDegree;
  settings.graph.seed = kIndexSeed;
  settings.graph.threads = options.build_threads;
  return settings;
}

/// `memory_bytes` were granted: what the build says that it needs.
Result<void> write_index(const IndexPlan& plan, const StackedVectors& vectors,
                         const DatabaseOptions& options, uint64_t memory_bytes,
                         const index::ByteSink& sink, const index::BuildProgress& progress) {
  if (!plan.graph) {
    index::FlatSettings settings;
    settings.seed = kIndexSeed;
    settings.threads = options.build_threads;
    settings.memory_bytes_max = memory_bytes;
    return index::write_flat_index(vectors, settings, sink, progress);
  }
  index::GraphSettings settings = graph_settings(options);
  settings.graph.memory_bytes_max = memory_bytes;
  if (plan.old != nullptr && plan.removed) {
    return index::extend_graph_index(*plan.old, *plan.removed, vectors, settings, sink, progress);
  }
  return index::write_graph_index(vectors, settings, sink, progress);
}

/// What an opened index may hold: places of vectors, and the nodes of a graph, which are copied.
uint64_t resident_bytes_max(std::string_view kind, const StackedVectors& vectors,
                            uint64_t file_bytes) {
  const uint64_t places = (vectors.rows() + 1 + 2 * vectors.vectors()) * sizeof(uint32_t);
  return places + (kind == kGraphKind ? file_bytes : 0);
}

}  // namespace

bool is_derived_kind(std::string_view kind) {
  return kind == kFlatKind || kind == kGraphKind;
}

Result<std::unique_ptr<index::VectorIndex>> open_derived(
    std::string_view kind, std::shared_ptr<const base::FileView> view, const std::string& path,
    std::shared_ptr<const index::VectorIndex> vectors, bool later) {
  return kind == kGraphKind
             ? index::open_graph_index(std::move(view), path, std::move(vectors), later)
             : index::open_flat_index(std::move(view), path, std::move(vectors), later);
}

Result<DerivedState> open_index(const Folder& folder, const ManifestFile& file,
                                std::span<const SegmentState> segments, MemoryBudget& memory,
                                bool later) {
  DerivedState state;
  state.name = file.name;
  state.field = file.field;
  state.segments = file.segments;
  state.vectors = stack(segments, file.field);
  auto view = folder.map(file.name);
  if (!view) {
    return pass_on(view);
  }
  const std::string path = folder.path_of(file.name);
  // Before there is anything of it, so that what does not fit is never taken.
  auto share = memory.take(resident_bytes_max(file.kind, *state.vectors, (*view)->bytes().size()),
                           "the index " + path);
  if (!share) {
    return pass_on(share);
  }
  auto opened = open_derived(file.kind, std::move(*view), path, state.vectors, later);
  if (!opened) {
    return pass_on(opened);
  }
  state.index = std::move(*opened);
  state.memory = std::move(*share);
  return state;
}

Result<BuiltIndex> build_index(const Folder& folder, const IndexPlan& plan,
                               const DatabaseOptions& options, MemoryBudget& memory,
                               const index::BuildProgress& progress) {
  const auto vectors = stack(plan.segments, plan.field);
  const std::string_view kind = plan.graph ? kGraphKind : kFlatKind;
  BuiltIndex built;
  built.file = {std::string(kind),
                plan.field,
                plan.generation,
                {},
                Folder::index_name(plan.number, plan.generation, plan.field, kind),
                0};
  for (const SegmentState& segment : plan.segments) {
    built.file.segments.push_back(segment.number);
  }
  uint64_t needed = plan.graph ? index::graph_build_bytes(*vectors, graph_settings(options))
                               : index::flat_build_bytes(*vectors);
  if (plan.graph && plan.removed) {
    needed += plan.removed->size() * (kGraphDegree + 2) * sizeof(uint32_t);
  }
  auto share =
      memory.take(needed, fmt::format("a {} index of {} vectors", kind, vectors->vectors()));
  if (!share) {
    return pass_on(share);
  }
  Result<uint64_t> bytes = folder.write(built.file.name, [&](const index::ByteSink& sink) {
    return write_index(plan, *vectors, options, needed, sink, progress);
  });
  if (!bytes) {
    return pass_on(bytes);
  }
  share->reset();
  built.file.bytes = *bytes;
  Result<DerivedState> opened = open_index(folder, built.file, plan.segments, memory, false);
  if (!opened) {
    folder.discard(built.file.name);
    return pass_on(opened);
  }
  built.state = std::move(*opened);
  return built;
}

size_t find_segments(std::span<const SegmentState> segments, std::span<const uint64_t> covered) {
  const auto at = std::search(
      segments.begin(), segments.end(), covered.begin(), covered.end(),
      [](const SegmentState& segment, uint64_t number) { return segment.number == number; });
  return static_cast<size_t>(at - segments.begin());
}

namespace {

bool overlap(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

}  // namespace

void place_indexes(CollectionState& state) {
  std::erase_if(state.derived, [&](DerivedState& derived) {
    derived.first = find_segments(state.segments, derived.segments);
    return derived.first == state.segments.size();
  });
}

void install_index(BuiltIndex built, CollectionState& state, Manifest& manifest) {
  std::erase_if(state.derived, [&](const DerivedState& other) {
    return other.field == built.state.field && overlap(other.segments, built.state.segments);
  });
  std::erase_if(manifest.files, [&](const ManifestFile& other) {
    return is_derived_kind(other.kind) && other.field == built.file.field &&
           overlap(other.segments, built.file.segments);
  });
  manifest.files.push_back(std::move(built.file));
  state.derived.push_back(std::move(built.state));
}

}  // namespace sibyl::store
