#include <array>
#include <utility>

#include "index/derived_index.h"
#include "index/internal/flat_index.h"
#include "index/internal/vector_file.h"

namespace sibyl::index {
namespace {

/// Every section has the size that the description gives it.
bool read_sections(const CheckedFile& file, FlatSections& out) {
  const FlatShape& shape = out.shape;
  std::span<const uint64_t> uncoded;
  if (!file.array(kFlatSigns, simd::Rotation::sign_words(shape.padded()), out.signs) ||
      !file.array(kFlatCentre, shape.dimension, out.centre) ||
      !file.array(kFlatBlocks, shape.blocks() * shape.block_bytes(), out.blocks) ||
      !file.array(kFlatErrors, shape.blocks(), out.errors) ||
      !file.array(kFlatUncoded, shape.uncoded_words(), uncoded) ||
      !file.array(kFlatFineCodes, shape.vectors * shape.padded(), out.fine_codes) ||
      !file.array(kFlatFineSteps, shape.vectors, out.fine_steps)) {
    return false;
  }
  for (size_t v = 0; v < shape.vectors; ++v) {
    if ((uncoded[v / 64] >> (v % 64) & 1) != 0) {
      out.uncoded.push_back(static_cast<uint32_t>(v));
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<VectorIndex>> open_flat_index(std::shared_ptr<const base::FileView> file,
                                                     const std::string& path,
                                                     std::shared_ptr<const VectorIndex> vectors,
                                                     bool later) {
  constexpr std::array kLater = {kFlatBlocks, kFlatErrors, kFlatFineCodes, kFlatFineSteps};
  Result<CheckedFile> opened =
      CheckedFile::open(std::move(file), path, kFlatMagic, kFlatVersion,
                        later ? std::span<const uint32_t>(kLater) : std::span<const uint32_t>());
  if (!opened) {
    return pass_on(opened);
  }
  std::span<const FlatMeta> meta;
  if (!opened->array(kFlatMeta, 1, meta)) {
    return damaged(path, "its description has a wrong size");
  }
  const FlatMeta& about = meta.front();
  if (about.dimension == 0 || about.dimension > kVectorDimensionMax || about.metric > 1) {
    return damaged(path, fmt::format("dimension {} or metric {} is not one that is written",
                                     about.dimension, about.metric));
  }
  std::vector<uint32_t> first = first_vectors(*vectors);
  const VectorOrigin origin{about.rows, about.vectors, about.fingerprint, about.dimension};
  if (auto same = check_origin(origin, *vectors, first, path); !same) {
    return pass_on(same);
  }
  FlatSections sections;
  sections.shape = {vectors->vectors(), vectors->dimension()};
  sections.metric = about.metric == 0 ? Metric::kInnerProduct : Metric::kSquaredL2;
  if (!read_sections(*opened, sections)) {
    return damaged(path, "a section's size does not fit the number of vectors");
  }
  return std::make_unique<FlatIndex>(std::move(*opened), std::move(sections), std::move(vectors),
                                     std::move(first));
}

}  // namespace sibyl::index
