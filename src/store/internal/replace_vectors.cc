#include <algorithm>
#include <map>
#include <numeric>

#include "store/internal/collection_engine.h"
#include "store/internal/merge_memory.h"

namespace sibyl::store {
namespace {

/// Rows whose vectors are asked for at once; progress is told as often.
constexpr uint32_t kMakerRows = 32;
/// The writer waits while at most this many rows get their vectors, unless writers stay faster
/// than the maker for kSwitchRoundsMax rounds.
constexpr uint64_t kSwitchTailRowsMax = 256;
constexpr int kSwitchRoundsMax = 16;

}  // namespace

/// One model switch: vectors of the new generation, segment by segment, and then the swap.
class GenerationSwitch {
 public:
  GenerationSwitch(CollectionEngine& engine, Schema next, const VectorMaker& maker,
                   Operations::Running& operation)
      : engine_(engine),
        next_(std::make_shared<const Schema>(std::move(next))),
        maker_(maker),
        operation_(operation) {}

  ~GenerationSwitch() {
    if (!kept_) {
      for (const auto& [segment, made] : made_) {
        for (const ManifestFile& file : made.files) {
          engine_.folder_.discard(file.name);
        }
      }
      for (const ManifestFile& file : index_files_) {
        engine_.folder_.discard(file.name);
      }
    }
  }
  GenerationSwitch(const GenerationSwitch&) = delete;
  GenerationSwitch& operator=(const GenerationSwitch&) = delete;

  Result<void> run(const std::string& settings) {
    total_ = engine_.current()->live_rows();
    for (int round = 0; round < kSwitchRoundsMax; ++round) {
      if (Result<void> sealed = engine_.seal(); !sealed) {
        return sealed;
      }
      if (Result<void> made = make_missing(*engine_.current()); !made) {
        return made;
      }
      if (engine_.current()->state().tail.rows <= kSwitchTailRowsMax) {
        break;
      }
    }
    if (Result<void> built = build_indexes(); !built) {
      return built;
    }
    const std::lock_guard sealing(engine_.sealing_);
    const std::lock_guard turn(engine_.turn_);
    return swap(settings);
  }

 private:
  struct Made {
    std::vector<ManifestFile> files;
    std::vector<std::shared_ptr<const index::VectorIndex>> indexes;
  };

  /// So that the first questions after the swap do not compare every vector.
  Result<void> build_indexes() {
    CollectionState next = engine_.current()->state();
    next.schema = next_;
    next.derived.clear();
    std::erase_if(next.segments,
                  [&](const SegmentState& segment) { return !made_.contains(segment.number); });
    for (SegmentState& segment : next.segments) {
      segment.vectors = made_.at(segment.number).indexes;
    }
    std::vector<size_t> fields(next_->vector_fields.size());
    std::iota(fields.begin(), fields.end(), 0);
    Result<std::vector<BuiltIndex>> built = engine_.build_ahead(nullptr, next, fields, operation_);
    if (!built) {
      return pass_on(built);
    }
    indexes_ = std::move(*built);
    for (const BuiltIndex& index : indexes_) {
      index_files_.push_back(index.file);
    }
    return {};
  }

  /// Makes the vectors of every segment that has none of the new generation yet.
  Result<void> make_missing(const StateSnapshot& snapshot) {
    const std::vector<SegmentState>& segments = snapshot.state().segments;
    for (uint32_t i = 0; i < segments.size(); ++i) {
      if (!made_.contains(segments[i].number)) {
        if (Result<void> made = make_segment(snapshot, i); !made) {
          return made;
        }
      }
    }
    return {};
  }

  Result<void> make_segment(const StateSnapshot& snapshot, uint32_t number) {
    const SegmentState& segment = snapshot.state().segments[number];
    auto memory = engine_.memory_->take(
        replace_bytes(segment, *next_),
        fmt::format("making new vectors of {} rows of '{}'", segment.live_rows, engine_.name_));
    if (!memory) {
      return pass_on(memory);
    }
    std::vector<index::VectorFileBuilder> builders;
    for (const VectorField& field : next_->vector_fields) {
      builders.emplace_back(field.dimension);
    }
    std::vector<RowView> views;
    uint32_t first = 0;
    for (uint32_t row = 0; row < segment.segment->rows(); ++row) {
      if (segment.is_live(row)) {
        views.push_back(snapshot.view({number, row}));
      }
      if (views.size() == kMakerRows || row + 1 == segment.segment->rows()) {
        if (Result<void> added = add_rows(views, first, row + 1, builders); !added) {
          return added;
        }
        first = row + 1;
        views.clear();
      }
    }
    return write_files(segment.number, builders);
  }

  /// Rows [first, end) of a segment, of which `views` are live; the dead get no vectors.
  Result<void> add_rows(std::span<const RowView> views, uint32_t first, uint32_t end,
                        std::vector<index::VectorFileBuilder>& builders) {
    if (operation_.stopped()) {
      return fail(Code::Interrupted,
                  "the model switch of '{}' was stopped; it stays with the vectors it has",
                  engine_.name_);
    }
    std::vector<std::vector<std::vector<float>>> vectors;
    if (!views.empty()) {
      auto made = maker_(views);
      if (!made) {
        return pass_on(made);
      }
      vectors = std::move(*made);
    }
    if (vectors.size() != views.size()) {
      return fail(Code::Internal, "vectors of {} rows were made for {} rows", vectors.size(),
                  views.size());
    }
    size_t at = 0;
    for (uint32_t row = first; row < end; ++row) {
      const bool live = at < views.size() && views[at].ref.row == row;
      if (live && vectors[at].size() != builders.size()) {
        return fail(Code::Internal, "row '{}' got vectors for {} fields, not {}", views[at].id,
                    vectors[at].size(), builders.size());
      }
      for (size_t field = 0; field < builders.size(); ++field) {
        Result<void> added = builders[field].add_row(
            live ? std::span<const float>(vectors[at][field]) : std::span<const float>());
        if (!added) {
          return pass_on(added, fmt::format("row '{}', field '{}'", live ? views[at].id : "",
                                            next_->vector_fields[field].name));
        }
      }
      at += live ? 1 : 0;
    }
    done_ += views.size();
    operation_.report(done_, std::max(done_, total_));
    return {};
  }

  Result<void> write_files(uint64_t segment, std::vector<index::VectorFileBuilder>& builders) {
    Made& made = made_[segment];
    for (size_t field = 0; field < builders.size(); ++field) {
      ManifestFile file = file_entry(kExactKind, field, next_->generation, segment,
                                     Folder::vectors_name(segment, next_->generation, field));
      auto index = write_vectors(engine_.folder_, file, [&](const index::ByteSink& sink) {
        return builders[field].write(sink);
      });
      if (!index) {
        return pass_on(index);
      }
      made.files.push_back(std::move(file));
      made.indexes.push_back(std::move(*index));
    }
    return {};
  }

  /// With the writer's turn: the last rows, then the manifest.
  Result<void> swap(const std::string& settings) {
    Result<void> done = engine_.check_writable();
    if (done) {
      done = engine_.seal_under_turn();
    }
    if (done) {
      done = make_missing(*engine_.current());
    }
    if (!done) {
      return done;
    }
    CollectionState state = engine_.current()->state();
    state.schema = next_;
    state.settings = settings;
    Manifest next = engine_.manifest_;
    std::erase_if(next.files, [](const ManifestFile& file) {
      return file.kind != kRowsKind && file.kind != kPostingsKind;
    });
    for (SegmentState& segment : state.segments) {
      const Made& made = made_.at(segment.number);
      segment.vectors = made.indexes;
      next.files.insert(next.files.end(), made.files.begin(), made.files.end());
    }
    state.derived.clear();
    for (BuiltIndex& index : indexes_) {
      install_index(std::move(index), state, next);
    }
    place_indexes(state);
    bool replaced = false;
    if (Result<void> saved = engine_.save(next, state, replaced); !saved) {
      kept_ = replaced;
      if (replaced) {
        // Rows of the old generation must not follow a manifest of the new one.
        engine_.refuse(saved.error());
      }
      return saved;
    }
    kept_ = true;
    std::swap(engine_.manifest_, next);
    engine_.publish(std::move(state));
    engine_.discard_unlisted(next);
    return {};
  }

  CollectionEngine& engine_;
  std::shared_ptr<const Schema> next_;
  const VectorMaker& maker_;
  Operations::Running& operation_;
  std::map<uint64_t, Made> made_;  ///< by segment number
  std::vector<BuiltIndex> indexes_;
  std::vector<ManifestFile> index_files_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
  bool kept_ = false;
};

Result<void> CollectionEngine::replace_vectors(const Schema& next, const std::string& settings,
                                               const VectorMaker& maker, std::stop_token stop,
                                               const Progress& progress) {
  const WakeAfter wake(*this);
  const auto operation = operations_.begin("switch model", stop, progress);
  if (Result<void> ready = catch_up(*operation); !ready) {
    return ready;
  }
  const Schema old = schema();
  if (next.text_fields != old.text_fields || next.language != old.language ||
      next.unique_ids != old.unique_ids) {
    return fail(Code::InvalidArgument,
                "a model switch changes vector fields and model only; text fields, language and "
                "unique_ids of '{}' were fixed when it was created",
                name_);
  }
  Schema schema = next;
  schema.generation = old.generation + 1;
  if (Result<void> checked = check_schema(schema, options_); !checked) {
    return checked;
  }
  Result<void> done;
  run_below(
      [&] { done = GenerationSwitch(*this, std::move(schema), maker, *operation).run(settings); });
  return done;
}

}  // namespace sibyl::store
