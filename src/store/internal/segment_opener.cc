#include "base/log.h"
#include "store/internal/segment_files.h"

namespace sibyl::store {
namespace {

/// The file of a kind that covers exactly this segment; null when the manifest has none.
const ManifestFile* find_file(const Manifest& manifest, std::string_view kind, uint64_t segment,
                              size_t field, uint64_t generation) {
  for (const ManifestFile& file : manifest.files) {
    if (file.kind == kind && file.field == field && file.generation == generation &&
        file.segments.size() == 1 && file.segments.front() == segment) {
      return &file;
    }
  }
  return nullptr;
}

Result<std::shared_ptr<const base::FileView>> map_file(const Folder& folder,
                                                       const Manifest& manifest,
                                                       const ManifestFile* file) {
  if (file == nullptr) {
    return fail(Code::DataLoss, "{} lists no file for a segment of {}",
                folder.path_of(kManifestName), manifest.schema.generation);
  }
  return folder.map(file->name);
}

/// Postings follow from the texts, so a damaged file costs nothing but the time to make it again.
Result<std::string> rebuild_postings(const Segment& segment, size_t field,
                                     const text::Analyzer& analyzer) {
  index::PostingsBuilder builder;
  for (uint32_t row = 0; row < segment.rows(); ++row) {
    builder.add_row(analyze_text(
        analyzer, segment.column(row, static_cast<uint32_t>(kFirstTextColumn + field))));
  }
  return builder.finish();
}

Result<std::shared_ptr<const index::Postings>> open_field_postings(const Folder& folder,
                                                                   const Manifest& manifest,
                                                                   const SegmentState& state,
                                                                   size_t field,
                                                                   const text::Analyzer& analyzer) {
  const ManifestFile* file = find_file(manifest, kPostingsKind, state.number, field, 0);
  auto view = map_file(folder, manifest, file);
  if (!view && file == nullptr) {
    return pass_on(view);
  }
  const std::string path = folder.path_of(file->name);
  Error error;
  if (view) {
    auto opened = index::open_postings(std::move(*view), path);
    if (opened && (*opened)->rows() == state.segment->rows()) {
      return std::shared_ptr<const index::Postings>(std::move(*opened));
    }
    error = opened ? index::damaged(path, "it is of another segment").value() : opened.error();
  } else {
    error = view.error();
  }
  // FailedPrecondition: it is of another version of the format.
  if (error.code != Code::DataLoss && error.code != Code::NotFound &&
      error.code != Code::FailedPrecondition) {
    return tl::unexpected<Error>(std::move(error));
  }
  base::log_warning("store", "{}; it is made again from the texts", error.message);
  Result<std::string> contents = rebuild_postings(*state.segment, field, analyzer);
  if (!contents) {
    return pass_on(contents);
  }
  if (Result<void> written = base::replace_file(path, *contents, folder.files()); !written) {
    return pass_on(written);
  }
  auto again = folder.map(file->name);
  if (!again) {
    return pass_on(again);
  }
  auto opened = index::open_postings(std::move(*again), path);
  if (!opened) {
    return pass_on(opened);
  }
  return std::shared_ptr<const index::Postings>(std::move(*opened));
}

std::string vectors_of_field(const Manifest& manifest, size_t field) {
  return fmt::format("vectors of field '{}'", manifest.schema.vector_fields[field].name);
}

Result<std::shared_ptr<const index::VectorIndex>> open_field_vectors(
    const Folder& folder, const Manifest& manifest, const SegmentState& state, size_t field,
    const ManifestSegment& entry, uint64_t later_bytes_min, std::vector<UncheckedFile>& unchecked) {
  const ManifestFile* file =
      find_file(manifest, kExactKind, state.number, field, manifest.schema.generation);
  auto view = map_file(folder, manifest, file);
  if (!view) {
    return pass_on(view);
  }
  const std::string path = folder.path_of(file->name);
  const bool later = (*view)->bytes().size() >= later_bytes_min;
  if (later) {
    unchecked.push_back({path, *view, entry, vectors_of_field(manifest, field)});
  }
  auto opened = index::open_exact_index(std::move(*view), path, later);
  if (!opened) {
    return pass_on(opened);
  }
  if ((*opened)->rows() != state.segment->rows() ||
      (*opened)->dimension() != manifest.schema.vector_fields[field].dimension) {
    return index::damaged(
        path, fmt::format("it holds {} rows of dimension {}, not {} of {}", (*opened)->rows(),
                          (*opened)->dimension(), state.segment->rows(),
                          manifest.schema.vector_fields[field].dimension));
  }
  return std::shared_ptr<const index::VectorIndex>(std::move(*opened));
}

}  // namespace

tl::unexpected<Error> lost(Error error, const ManifestSegment& entry, std::string_view what) {
  error.code = error.code == Code::NotFound ? Code::DataLoss : error.code;
  error.message += fmt::format(
      "; the {} of {} rows (sequences {} to {}) are lost unless the file is restored from a copy",
      what, entry.rows, entry.first_sequence, entry.last_sequence);
  return tl::unexpected<Error>(std::move(error));
}

index::TermCounts analyze_text(const text::Analyzer& analyzer, std::string_view text) {
  std::vector<text::Term> terms;
  analyzer.analyze(text, terms);
  return index::count_terms(terms);
}

Result<SegmentState> open_segment(const Folder& folder, const Manifest& manifest,
                                  const ManifestSegment& entry, const text::Analyzer& analyzer,
                                  uint64_t later_bytes_min, std::vector<UncheckedFile>& unchecked) {
  SegmentState state;
  state.number = entry.number;
  const ManifestFile* rows = find_file(manifest, kRowsKind, entry.number, 0, 0);
  auto view = map_file(folder, manifest, rows);
  if (!view) {
    return lost(std::move(view.error()), entry, "documents");
  }
  const std::string path = folder.path_of(rows->name);
  const bool later = (*view)->bytes().size() >= later_bytes_min;
  if (later) {
    unchecked.push_back({path, *view, entry, "documents"});
  }
  auto segment = Segment::open(std::move(*view), path, manifest.schema.text_fields.size(), later);
  if (!segment) {
    return lost(std::move(segment.error()), entry, "documents");
  }
  state.segment = std::move(*segment);
  if (state.segment->rows() != entry.rows || state.segment->sequence(0) != entry.first_sequence ||
      state.segment->sequence(entry.rows - 1) != entry.last_sequence) {
    return lost(index::damaged(path, "it is not the file that the manifest means").value(), entry,
                "documents");
  }
  state.live_rows = entry.rows - static_cast<uint32_t>(entry.dead.size());
  if (!entry.dead.empty()) {
    auto live = std::make_shared<index::RowSet>(entry.rows, true);
    for (const uint32_t row : entry.dead) {
      live->erase(row);
    }
    state.live = std::move(live);
  }
  for (size_t field = 0; field < manifest.schema.text_fields.size(); ++field) {
    auto postings = open_field_postings(folder, manifest, state, field, analyzer);
    if (!postings) {
      return pass_on(postings);
    }
    state.postings.push_back(std::move(*postings));
  }
  for (size_t field = 0; field < manifest.schema.vector_fields.size(); ++field) {
    auto vectors =
        open_field_vectors(folder, manifest, state, field, entry, later_bytes_min, unchecked);
    if (!vectors) {
      return lost(std::move(vectors.error()), entry, vectors_of_field(manifest, field));
    }
    state.vectors.push_back(std::move(*vectors));
  }
  return state;
}

}  // namespace sibyl::store
