#include "index/internal/flat_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "index/internal/exact_rows.h"
#include "simd/code_distance.h"
#include "simd/top_k.h"

namespace sibyl::index {
namespace {

/// Deviations of the coarse and of the fine estimate that a bound adds.
constexpr float kCoarseDeviations = 1.9F;
constexpr float kFineDeviations = 4.5F;
/// Rounding of float32 sums, as a share of their terms.
constexpr float kRounding = 4e-6F;
/// Blocks whose bounds are in memory at a time: 64 KiB of them.
constexpr size_t kChunkBlocks = 512;
/// So few vectors are compared in full at once.
constexpr size_t kFewVectors = 64;
constexpr size_t kFineTogether = 4;
constexpr size_t kFineAhead = 8;

void prefetch(const void* from, size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  for (size_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(at + i);
  }
}

float deviation_of_rounding(float step) {
  return step * 0.288675F;  // 1 / sqrt(12)
}

}  // namespace

/// State of one search.
struct FlatIndex::Search {
  Search(size_t wanted, bool distinct, float floor)
      : k(wanted), candidates(wanted, distinct, floor) {}

  FlatCoder::Query query;
  simd::FastScanQuery scan;
  size_t k;
  FlatCandidates candidates;
  std::vector<uint32_t> masks;  ///< Empty: all are allowed.
  std::unique_ptr<float[]> bounds =
      std::make_unique_for_overwrite<float[]>(kChunkBlocks * simd::kFastScanCodes);
  std::array<float, kChunkBlocks> best;
  std::vector<uint32_t> pending;

  /// In the units of the bounds, which leave the constant out.
  float threshold() const { return candidates.threshold() - query.constant; }
};

FlatIndex::FlatIndex(CheckedFile file, FlatSections sections,
                     std::shared_ptr<const VectorIndex> vectors, std::vector<uint32_t> first)
    : file_(std::move(file)),
      sections_(std::move(sections)),
      vectors_(std::move(vectors)),
      first_(std::move(first)),
      coder_(sections_.metric, sections_.signs, sections_.centre),
      blocks_{sections_.blocks.data(), sections_.shape.block_bytes(), sections_.shape.groups(),
              sections_.errors.data()} {
  bool one_each = true;
  for (size_t row = 0; row < rows() && one_each; ++row) {
    one_each = first_[row + 1] == row + 1;
  }
  if (!one_each) {
    row_of_.resize(first_.back());
    for (size_t row = 0; row < rows(); ++row) {
      std::fill(row_of_.begin() + first_[row], row_of_.begin() + first_[row + 1],
                static_cast<uint32_t>(row));
    }
  }
}

size_t FlatIndex::resident_bytes() const {
  return (first_.size() + row_of_.size() + sections_.uncoded.size()) * sizeof(uint32_t);
}

size_t FlatIndex::mapped_bytes() const {
  return sections_.blocks.size() + sections_.errors.size_bytes() + sections_.fine_codes.size() +
         sections_.fine_steps.size_bytes();
}

void FlatIndex::score(std::span<const float> query, std::span<const uint32_t> rows,
                      std::span<VectorHit> out) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    out[i] = exact_row_hit(*vectors_, sections_.metric, query, rows[i]);
  }
}

void FlatIndex::exact_search(std::span<const float> query, size_t k, const RowSet* allowed,
                             std::vector<VectorHit>& out) const {
  std::vector<uint32_t> all;
  collect_rows(allowed, rows(), all);
  rank_rows_exactly(*vectors_, sections_.metric, query, all, k, out);
}

std::vector<uint32_t> FlatIndex::block_masks(const RowSet& allowed) const {
  std::vector<uint64_t> words;
  if (row_of_.empty()) {
    words.assign(allowed.words().begin(), allowed.words().end());
  } else {
    words.resize((vectors() + 63) / 64);
    allowed.for_each([&](size_t row) {
      for (size_t v = first_[row]; v < first_[row + 1]; ++v) {
        words[v / 64] |= uint64_t{1} << (v % 64);
      }
    });
  }
  std::vector<uint32_t> masks(sections_.shape.blocks());
  for (size_t i = 0; i < masks.size(); ++i) {
    masks[i] = static_cast<uint32_t>(words[i / 2] >> (i % 2 * 32));
  }
  return masks;
}

void FlatIndex::search(std::span<const float> query, size_t k, const RowSet* allowed,
                       std::vector<VectorHit>& out) const {
  search_with(query, k, allowed, {}, out);
}

void FlatIndex::search_with(std::span<const float> query, size_t k, const RowSet* allowed,
                            const SearchOptions& options, std::vector<VectorHit>& out) const {
  out.clear();
  if (k == 0 || vectors() == 0) {
    return;
  }
  Search search(std::min(k, rows()), !row_of_.empty(), options.floor);
  size_t compared = vectors();
  if (allowed != nullptr) {
    search.masks = block_masks(*allowed);
    compared = 0;
    for (const uint32_t mask : search.masks) {
      compared += static_cast<size_t>(std::popcount(mask));
    }
  }
  if (compared <= kFewVectors || !coder_.query(query, search.query)) {
    exact_search(query, k, allowed, out);
    return;
  }
  search.scan = {search.query.table.data(), search.query.scale, search.query.offset_share,
                 kCoarseDeviations * search.query.length};
  scan(search);
  std::vector<uint32_t> rows;
  for (const FlatCandidates::Item& item : search.candidates.items()) {
    rows.push_back(item.row);
  }
  for (const uint32_t vector : sections_.uncoded) {
    if (allowed == nullptr || allowed->contains(row_of(vector))) {
      rows.push_back(row_of(vector));
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  rank_rows_exactly(*vectors_, sections_.metric, query, rows, k, out);
}

void FlatIndex::scan(Search& search) const {
  const size_t blocks = sections_.shape.blocks();
  for (size_t first = 0; first < blocks; first += kChunkBlocks) {
    const size_t count = std::min(kChunkBlocks, blocks - first);
    simd::fast_scan_bounds(blocks_, first, count, search.scan,
                           search.masks.empty() ? nullptr : search.masks.data() + first,
                           search.bounds.get(), search.best.data());
    if (std::isinf(search.candidates.threshold())) {
      seed(search, first, count);
    }
    visit(search, first, count);
  }
  search.candidates.settle();
}

/// The best vectors of the most promising blocks first: the threshold that they give keeps out most
/// of what would be scored while it is still low.
void FlatIndex::seed(Search& search, size_t first, size_t count) const {
  simd::TopK promising(std::min(search.k, count));
  search.pending.clear();
  for (size_t i = 0; i < count; ++i) {
    if (!std::isnan(search.best[i])) {
      promising.add(search.best[i], i);
    }
  }
  for (const simd::Scored& block : promising.take()) {
    float* bounds = search.bounds.get() + block.key * simd::kFastScanCodes;
    const uint32_t mask = simd::at_least(bounds, block.score);
    if (mask != 0) {
      const auto j = static_cast<size_t>(std::countr_zero(mask));
      search.pending.push_back(
          static_cast<uint32_t>((first + block.key) * simd::kFastScanCodes + j));
      bounds[j] = std::numeric_limits<float>::quiet_NaN();  // not again
    }
  }
  score_fine(search, search.pending);
  search.candidates.settle();
}

void FlatIndex::visit(Search& search, size_t first, size_t count) const {
  constexpr size_t kPending = 64;
  search.pending.clear();
  for (size_t i = 0; i < count; ++i) {
    if (!(search.best[i] >= search.threshold())) {
      continue;
    }
    const float* bounds = search.bounds.get() + i * simd::kFastScanCodes;
    for (uint32_t mask = simd::at_least(bounds, search.threshold()); mask != 0; mask &= mask - 1) {
      search.pending.push_back(static_cast<uint32_t>((first + i) * simd::kFastScanCodes) +
                               static_cast<uint32_t>(std::countr_zero(mask)));
    }
    if (search.pending.size() >= kPending) {
      score_fine(search, search.pending);
      search.pending.clear();
    }
  }
  score_fine(search, search.pending);
}

void FlatIndex::score_fine(Search& search, std::span<const uint32_t> vectors) const {
  const size_t padded = coder_.padded();
  const float query_deviation = deviation_of_rounding(search.query.fine_step);
  const float root = std::sqrt(static_cast<float>(padded));
  const auto code_of = [&](uint32_t v) { return sections_.fine_codes.data() + v * padded; };
  for (size_t i = 0; i < vectors.size(); i += kFineTogether) {
    const size_t count = std::min(kFineTogether, vectors.size() - i);
    for (size_t p = i + kFineAhead; p < std::min(vectors.size(), i + kFineAhead + count); ++p) {
      prefetch(code_of(vectors[p]), std::min<size_t>(padded, 1024));
    }
    std::array<const int8_t*, kFineTogether> codes{};
    std::array<int32_t, kFineTogether> dots{};
    for (size_t j = 0; j < count; ++j) {
      codes[j] = code_of(vectors[i + j]);
    }
    simd::byte_dot_gather(search.query.fine.data(), codes.data(), count, padded, dots.data());
    for (size_t j = 0; j < count; ++j) {
      const uint32_t v = vectors[i + j];
      const uint8_t* block =
          sections_.blocks.data() + v / simd::kFastScanCodes * sections_.shape.block_bytes();
      const auto* factors = reinterpret_cast<const float*>(block + sections_.shape.factors_at()) +
                            v % simd::kFastScanCodes;
      const float offset = search.query.offset_share * factors[0];
      const float length = factors[simd::kFastScanCodes] * root;  // at least that of the vector
      const float step = sections_.fine_steps[v];
      const float product = step * search.query.fine_step * static_cast<float>(dots[j]);
      const float error =
          kFineDeviations * std::hypot(deviation_of_rounding(step) * search.query.length,
                                       query_deviation * length) +
          kRounding *
              (std::fabs(search.query.constant) + std::fabs(offset) + length * search.query.length);
      const FlatCandidates::Item item{v, row_of(v), search.query.constant + offset + product,
                                      error};
      if (std::isfinite(item.lowest())) {
        search.candidates.add(item);
      }
    }
  }
}

}  // namespace sibyl::index
