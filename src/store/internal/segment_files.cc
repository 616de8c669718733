#include "store/internal/segment_files.h"

#include "store/internal/row_sources.h"

namespace sibyl::store {
namespace {

/// Collects the files of a new segment and removes them when it does not come about.
class SegmentMaker {
 public:
  SegmentMaker(const Folder& folder, uint64_t number, MergeStep step)
      : folder_(folder), step_(std::move(step)) {
    sealed_.state.number = number;
  }
  ~SegmentMaker() {
    if (!kept_) {
      for (const ManifestFile& file : sealed_.files) {
        folder_.discard(file.name);
      }
    }
  }
  SegmentMaker(const SegmentMaker&) = delete;
  SegmentMaker& operator=(const SegmentMaker&) = delete;

  Result<void> add_rows(const RowSource& source, size_t text_fields) {
    ManifestFile file =
        file_entry(kRowsKind, 0, 0, sealed_.state.number, Folder::rows_name(sealed_.state.number));
    Result<uint64_t> bytes = folder_.write(file.name, [&](const index::ByteSink& sink) {
      return write_rows(source, text_fields, stepping(sink));
    });
    if (!bytes) {
      return pass_on(bytes);
    }
    file.bytes = *bytes;
    sealed_.files.push_back(file);
    auto view = folder_.map(file.name);
    if (!view) {
      return pass_on(view);
    }
    auto segment = Segment::open(std::move(*view), folder_.path_of(file.name), text_fields);
    if (!segment) {
      return pass_on(segment);
    }
    sealed_.state.segment = std::move(*segment);
    sealed_.state.live_rows = source.rows();
    return {};
  }

  Result<void> add_postings(size_t field, const std::string& contents) {
    const uint64_t number = sealed_.state.number;
    ManifestFile file =
        file_entry(kPostingsKind, field, 0, number, Folder::postings_name(number, field));
    Result<uint64_t> bytes = folder_.write(
        file.name, [&](const index::ByteSink& sink) { return stepping(sink)(contents); });
    if (!bytes) {
      return pass_on(bytes);
    }
    file.bytes = *bytes;
    sealed_.files.push_back(file);
    auto view = folder_.map(file.name);
    if (!view) {
      return pass_on(view);
    }
    auto postings = index::open_postings(std::move(*view), folder_.path_of(file.name));
    if (!postings) {
      return pass_on(postings);
    }
    sealed_.state.postings.push_back(std::move(*postings));
    return {};
  }

  Result<void> add_vectors(size_t field, const Schema& schema, std::span<const uint32_t> parts,
                           const std::function<std::span<const float>(size_t)>& vectors_of) {
    const uint64_t number = sealed_.state.number;
    ManifestFile file = file_entry(kExactKind, field, schema.generation, number,
                                   Folder::vectors_name(number, schema.generation, field));
    auto vectors = write_vectors(folder_, file, [&](const index::ByteSink& sink) {
      return index::write_vector_file(schema.vector_fields[field].dimension, parts, vectors_of,
                                      stepping(sink));
    });
    if (!vectors) {
      return pass_on(vectors);
    }
    sealed_.files.push_back(std::move(file));
    sealed_.state.vectors.push_back(std::move(*vectors));
    return {};
  }

  SealedSegment take() {
    kept_ = true;
    return std::move(sealed_);
  }

 private:
  index::ByteSink stepping(const index::ByteSink& sink) const {
    return [this, &sink](std::string_view bytes) {
      Result<void> done = step_(sealed_.files.size());
      return done ? sink(bytes) : done;
    };
  }

  const Folder& folder_;
  MergeStep step_;
  SealedSegment sealed_;
  bool kept_ = false;
};

}  // namespace

ManifestFile file_entry(std::string_view kind, size_t field, uint64_t generation, uint64_t segment,
                        std::string name) {
  ManifestFile file;
  file.kind = kind;
  file.field = field;
  file.generation = generation;
  file.segments = {segment};
  file.name = std::move(name);
  return file;
}

Result<std::shared_ptr<const index::VectorIndex>> write_vectors(
    const Folder& folder, const ManifestFile& file,
    const std::function<Result<void>(const index::ByteSink&)>& make) {
  Result<uint64_t> bytes = folder.write(file.name, make);
  if (!bytes) {
    return pass_on(bytes);
  }
  auto view = folder.map(file.name);
  if (!view) {
    folder.discard(file.name);
    return pass_on(view);
  }
  auto opened = index::open_exact_index(std::move(*view), folder.path_of(file.name));
  if (!opened) {
    folder.discard(file.name);
    return pass_on(opened);
  }
  return std::shared_ptr<const index::VectorIndex>(std::move(*opened));
}

Result<SealedSegment> seal_tail(const Folder& folder, const CollectionState& state,
                                uint64_t number) {
  const Schema& schema = *state.schema;
  const TailSource source(state.tail);
  SegmentMaker maker(folder, number, [](size_t) -> Result<void> { return {}; });
  Result<void> done = maker.add_rows(source, schema.text_fields.size());
  for (size_t field = 0; field < schema.text_fields.size() && done; ++field) {
    index::PostingsBuilder builder;
    for (uint32_t row = 0; row < source.rows(); ++row) {
      builder.add_row(source.tail_row(row).texts[field].terms());
    }
    done = maker.add_postings(field, builder.finish());
  }
  for (size_t field = 0; field < schema.vector_fields.size() && done; ++field) {
    std::vector<uint32_t> parts(source.rows());
    for (uint32_t row = 0; row < source.rows(); ++row) {
      parts[row] = static_cast<uint32_t>(source.tail_row(row).row.vectors[field].size() /
                                         schema.vector_fields[field].dimension);
    }
    done = maker.add_vectors(field, schema, parts, [&](size_t row) {
      return std::span<const float>(source.tail_row(static_cast<uint32_t>(row)).row.vectors[field]);
    });
  }
  if (!done) {
    return pass_on(done);
  }
  return maker.take();
}

Result<SealedSegment> merge_segments(const Folder& folder, const CollectionState& state,
                                     std::span<const MergedRow> rows, uint64_t number,
                                     const MergeStep& step) {
  const Schema& schema = *state.schema;
  const MergedSource source(state, rows);
  SegmentMaker maker(folder, number, step);
  Result<void> done = maker.add_rows(source, schema.text_fields.size());
  for (size_t field = 0; field < schema.text_fields.size() && done; ++field) {
    std::vector<index::PostingsPart> parts;
    for (const SegmentState& segment : state.segments) {
      parts.push_back({segment.postings[field].get(), segment.live.get()});
    }
    done = maker.add_postings(field, index::merge_postings(parts));
  }
  for (size_t field = 0; field < schema.vector_fields.size() && done; ++field) {
    const auto vectors_of = [&](size_t row) {
      const MergedRow& at = rows[row];
      return state.segments[at.segment].vectors[field]->vectors_of(at.row);
    };
    std::vector<uint32_t> parts(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      parts[row] =
          static_cast<uint32_t>(vectors_of(row).size() / schema.vector_fields[field].dimension);
    }
    done = maker.add_vectors(field, schema, parts, vectors_of);
  }
  if (!done) {
    return pass_on(done);
  }
  return maker.take();
}

}  // namespace sibyl::store
