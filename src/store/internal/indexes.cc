#include <algorithm>
#include <numeric>

#include "base/log.h"
#include "store/internal/collection_engine.h"
#include "store/internal/graph_extension.h"
#include "store/internal/index_policy.h"

namespace sibyl::store {
namespace {

std::vector<uint64_t> count_vectors(std::span<const SegmentState> segments, size_t field) {
  std::vector<uint64_t> counts;
  counts.reserve(segments.size());
  for (const SegmentState& segment : segments) {
    counts.push_back(segment.vectors[field]->vectors());
  }
  return counts;
}

std::vector<IndexRange> index_ranges(const CollectionState& state, size_t field) {
  std::vector<IndexRange> ranges;
  for (const DerivedState& derived : state.derived) {
    if (derived.field == field) {
      ranges.push_back(
          {derived.first, derived.segments.size(), derived.index->kind() == kGraphKind});
    }
  }
  return ranges;
}

/// The graph of the field, when what is planned differs little from it.
void find_old_graph(const CollectionState& before, IndexPlan& plan) {
  for (const DerivedState& derived : before.derived) {
    if (derived.field == plan.field && derived.index->kind() == kGraphKind) {
      plan.old = derived.index;
      plan.removed = removed_vectors(
          std::span(before.segments).subspan(derived.first, derived.segments.size()), plan.segments,
          plan.field);
      return;
    }
  }
}

bool is_short_of_memory(const Error& error) {
  return error.code == Code::ResourceExhausted || error.code == Code::TooLarge;
}

}  // namespace

Result<DerivedState> CollectionEngine::open_listed_index(const CollectionState& state,
                                                         const ManifestFile& file, bool later) {
  const size_t first = find_segments(state.segments, file.segments);
  if (first == state.segments.size() || file.field >= state.schema->vector_fields.size() ||
      file.generation != state.schema->generation) {
    return index::damaged(folder_.path_of(file.name), "it is of segments that are no neighbours");
  }
  Result<DerivedState> opened =
      open_index(folder_, file, std::span(state.segments).subspan(first, file.segments.size()),
                 *memory_, later);
  if (!opened) {
    base::log_warning("store", "{}; vectors are compared one by one until it is made again",
                      opened.error().message);
  }
  return opened;
}

/// Large ones by their structure; check_indexes reads them whole.
void CollectionEngine::load_indexes(CollectionState& state) {
  std::erase_if(manifest_.files, [&](const ManifestFile& file) {
    if (!is_derived_kind(file.kind)) {
      return false;
    }
    const bool later = file.bytes >= options_.checked_later_bytes_min;
    Result<DerivedState> opened = open_listed_index(state, file, later);
    if (opened) {
      state.derived.push_back(std::move(*opened));
      if (later) {
        unchecked_indexes_.push_back(file.name);
      }
    }
    return !opened;
  });
  place_indexes(state);
}

Result<void> CollectionEngine::catch_up(Operations::Running& operation) {
  Result<void> done = check_indexes(operation);
  return done ? check_files(operation) : done;
}

/// A damaged one goes; the background makes it again.
Result<void> CollectionEngine::check_indexes(Operations::Running& operation) {
  while (!unchecked_indexes_.empty()) {
    const std::string& name = unchecked_indexes_.back();
    auto view = folder_.map(name);
    Result<void> checked = view ? index::check_container(**view, folder_.path_of(name),
                                                         [&] { return operation.stopped(); })
                                : pass_on(view);
    if (!checked && checked.error().code == Code::Interrupted) {
      return checked;
    }
    if (!checked) {
      base::log_warning("store", "{}; vectors are compared one by one until it is made again",
                        checked.error().message);
      drop_index(name);
    }
    unchecked_indexes_.pop_back();
  }
  return {};
}

void CollectionEngine::drop_index(const std::string& file_name) {
  const std::lock_guard turn(turn_);
  CollectionState state = current()->state();
  std::erase_if(state.derived,
                [&](const DerivedState& derived) { return derived.name == file_name; });
  std::erase_if(manifest_.files, [&](const ManifestFile& file) { return file.name == file_name; });
  folder_.discard(file_name);
  publish(std::move(state));
}

/// Before anything is made from large files that were opened by their structure alone.
Result<void> CollectionEngine::check_files(Operations::Running& operation) {
  if (Result<void> whole = current()->state().damage->check(); !whole) {
    return whole;
  }
  while (!unchecked_.empty()) {
    const UncheckedFile& file = unchecked_.back();
    Result<void> checked =
        index::check_container(*file.view, file.path, [&] { return operation.stopped(); });
    if (!checked && checked.error().code == Code::Interrupted) {
      return checked;
    }
    if (!checked) {
      Error error = lost(checked.error(), file.segment, file.what).value();
      error.message = fmt::format("collection '{}': {}", name_, error.message);
      base::log_error("store", "{}", error.message);
      current()->state().damage->set(error);
      {
        const std::lock_guard lock(published_lock_);
        trouble_ = error.message;
      }
      return tl::unexpected<Error>(std::move(error));
    }
    file.view->expect(base::ReadPattern::Usual, 0, file.view->bytes().size());
    unchecked_.pop_back();
  }
  return {};
}

/// Builds over a part of `segments`; a graph that memory is too short for becomes flat codes.
Result<BuiltIndex> CollectionEngine::build_range(const CollectionState* before,
                                                 std::span<const SegmentState> segments,
                                                 size_t field, uint64_t generation,
                                                 const IndexRange& range,
                                                 Operations::Running& operation) {
  IndexPlan plan;
  plan.segments = segments.subspan(range.first, range.count);
  plan.field = field;
  plan.generation = generation;
  plan.graph = range.graph;
  if (before != nullptr && range.graph) {
    find_old_graph(*before, plan);
  }
  {
    const std::lock_guard turn(turn_);
    plan.number = take_number();
  }
  uint64_t vectors = 0;
  for (const SegmentState& segment : plan.segments) {
    vectors += segment.vectors[field]->vectors();
  }
  const auto progress = [&](double share) {
    operation.report(static_cast<uint64_t>(share * static_cast<double>(vectors)), vectors);
    return !operation.stopped();
  };
  Result<BuiltIndex> built = build_index(folder_, plan, options_, *memory_, progress);
  if (!built && plan.graph && is_short_of_memory(built.error())) {
    base::log_warning("store", "collection '{}' gets flat codes in place of a graph: {}", name_,
                      built.error().message);
    plan.graph = false;
    built = build_index(folder_, plan, options_, *memory_, progress);
  }
  if (!built && operation.stopped()) {
    return fail(Code::Interrupted, "the index of '{}' was stopped; the collection is as it was",
                name_);
  }
  return built;
}

/// One index that is worth its building. After a failure, or when there was no memory for what was
/// wanted, the next try waits until there are a quarter more vectors.
bool CollectionEngine::work_on_indexes(Operations::Running& operation) {
  const std::shared_ptr<const StateSnapshot> snapshot = current();
  const CollectionState& state = snapshot->state();
  index_retry_vectors_.resize(state.schema->vector_fields.size(), 0);
  for (size_t field = 0; field < state.schema->vector_fields.size(); ++field) {
    const std::vector<uint64_t> counts = count_vectors(state.segments, field);
    const auto range = choose_build(counts, index_ranges(state, field), options_.flat_vectors_min,
                                    options_.graph_vectors_min);
    const uint64_t total = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
    if (!range || total < index_retry_vectors_[field]) {
      continue;
    }
    operation.rename("index");
    Result<BuiltIndex> built =
        build_range(&state, state.segments, field, state.schema->generation, *range, operation);
    const bool as_wanted = built && (built->file.kind == kGraphKind) == range->graph;
    Result<void> added = built ? add_index(std::move(*built)) : pass_on(built);
    if (!added && added.error().code == Code::Interrupted) {
      return false;
    }
    index_retry_vectors_[field] = added && as_wanted ? 0 : total + total / 4 + 1;
    if (added) {
      return true;
    }
    base::log_error("store", "collection '{}' has no index over field '{}': {}", name_,
                    state.schema->vector_fields[field].name, added.error().message);
  }
  return false;
}

Result<void> CollectionEngine::add_index(BuiltIndex built) {
  const std::lock_guard turn(turn_);
  const ManifestFile file = built.file;
  CollectionState state = current()->state();
  Manifest next = manifest_;
  install_index(std::move(built), state, next);
  place_indexes(state);
  Result<void> saved = check_writable();
  bool replaced = false;
  if (saved) {
    saved = save(next, state, replaced);
  }
  if (!saved) {
    if (!replaced) {
      folder_.discard(file.name);
    }
    return saved;
  }
  std::swap(manifest_, next);
  publish(std::move(state));
  discard_unlisted(next);
  return {};
}

/// The indexes that take the place of those which a change of segments ends, so that no question
/// waits for them after it. Without them the change goes on; the background makes them later.
Result<std::vector<BuiltIndex>> CollectionEngine::build_ahead(const CollectionState* before,
                                                              const CollectionState& next,
                                                              std::span<const size_t> fields,
                                                              Operations::Running& operation) {
  std::vector<BuiltIndex> built;
  for (const size_t field : fields) {
    const auto range = choose_build(count_vectors(next.segments, field), index_ranges(next, field),
                                    options_.flat_vectors_min, options_.graph_vectors_min);
    if (!range) {
      continue;
    }
    Result<BuiltIndex> made =
        build_range(before, next.segments, field, next.schema->generation, *range, operation);
    if (made) {
      built.push_back(std::move(*made));
    } else if (made.error().code == Code::Interrupted) {
      for (const BuiltIndex& other : built) {
        folder_.discard(other.file.name);
      }
      return pass_on(made);
    } else {
      base::log_error("store", "collection '{}' goes on without this index: {}", name_,
                      made.error().message);
    }
  }
  return built;
}

}  // namespace sibyl::store
