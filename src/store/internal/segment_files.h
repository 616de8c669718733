#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/internal/folder.h"
#include "store/internal/manifest.h"
#include "store/internal/state.h"

namespace sibyl::store {

/// A sealed segment on its way into the manifest: its files are written and opened.
struct SealedSegment {
  SegmentState state;
  std::vector<ManifestFile> files;
};

/// Writes and opens a segment of the tail's live rows. On failure no file stays.
Result<SealedSegment> seal_tail(const Folder& folder, const CollectionState& state,
                                uint64_t number);

/// A row of the segments that are merged.
struct MergedRow {
  uint32_t segment = 0;
  uint32_t row = 0;
};
/// Called again and again while a file is written; an error ends the work.
using MergeStep = std::function<Result<void>(size_t files_done)>;
/// Writes and opens a segment of the live rows of all segments of `state`, given in `rows` in
/// order.
Result<SealedSegment> merge_segments(const Folder& folder, const CollectionState& state,
                                     std::span<const MergedRow> rows, uint64_t number,
                                     const MergeStep& step);

/// Writes and opens a vector file. On failure it does not stay.
Result<std::shared_ptr<const index::VectorIndex>> write_vectors(
    const Folder& folder, const ManifestFile& file,
    const std::function<Result<void>(const index::ByteSink&)>& make);

/// A large primary file whose contents are to be checked after it was opened.
struct UncheckedFile {
  std::string path;
  std::shared_ptr<const base::FileView> view;
  ManifestSegment segment;
  std::string what;  ///< that it holds
};

/// Adds to the error of a damaged primary file what is lost with it.
tl::unexpected<Error> lost(Error error, const ManifestSegment& entry, std::string_view what);

/// Opens what the manifest lists of one segment. DataLoss tells what is lost with a damaged file;
/// damaged postings are made again from the rows' texts. Primary files of `later_bytes_min` bytes
/// and more are checked in their structure only, and added to `unchecked`.
Result<SegmentState> open_segment(const Folder& folder, const Manifest& manifest,
                                  const ManifestSegment& entry, const text::Analyzer& analyzer,
                                  uint64_t later_bytes_min, std::vector<UncheckedFile>& unchecked);

/// Analysed terms of a text.
index::TermCounts analyze_text(const text::Analyzer& analyzer, std::string_view text);

/// The entry of a file of one segment.
ManifestFile file_entry(std::string_view kind, size_t field, uint64_t generation, uint64_t segment,
                        std::string name);

}  // namespace sibyl::store
