#include <algorithm>
#include <array>

#include "index/internal/vector_file.h"
#include "index/vector_index.h"
#include "simd/distance.h"
#include "simd/top_k.h"

namespace sibyl::index {
namespace {

/// Every vector is compared; the file stays mapped.
class ExactIndex final : public VectorIndex {
 public:
  ExactIndex(CheckedFile file, VectorMeta meta, std::span<const uint32_t> first,
             std::span<const float> data, bool later)
      : file_(std::move(file)), meta_(meta), first_(first), data_(data), later_(later) {}

  size_t rows() const override { return meta_.rows; }
  size_t vectors() const override { return meta_.vectors; }
  size_t dimension() const override { return meta_.dimension; }
  std::string_view kind() const override { return "exact"; }
  size_t mapped_bytes() const override { return first_.size_bytes() + data_.size_bytes(); }

  void search(std::span<const float> query, size_t k, const RowSet* allowed,
              std::vector<VectorHit>& out) const override {
    out.clear();
    simd::TopK best(k);
    if (allowed == nullptr) {
      scan_all(query, best);
    } else {
      allowed->for_each([&](size_t row) {
        const VectorHit hit = best_part(query, static_cast<uint32_t>(row));
        if (hit.score > kNoVector) {
          best.add(hit.score, row);
        }
      });
    }
    for (const simd::Scored& item : best.take()) {
      out.push_back(best_part(query, static_cast<uint32_t>(item.key)));
    }
  }

  void score(std::span<const float> query, std::span<const uint32_t> rows,
             std::span<VectorHit> out) const override {
    for (size_t i = 0; i < rows.size(); ++i) {
      out[i] = best_part(query, rows[i]);
    }
  }

  std::span<const float> vectors_of(uint32_t row) const override {
    return data_.subspan(size_t{first_[row]} * meta_.dimension,
                         size_t{first_[row + 1] - first_[row]} * meta_.dimension);
  }

 private:
  static constexpr size_t kBlock = 256;
  static constexpr size_t kAhead = 16 * kBlock;

  /// Blocks of vectors cut across rows: one kernel call serves many short rows.
  void scan_all(std::span<const float> query, simd::TopK& best) const {
    std::array<float, kBlock> scores;
    size_t row = 0;
    float row_score = kNoVector;
    for (size_t begin = 0; begin < meta_.vectors; begin += kBlock) {
      if (later_ && begin % kAhead == 0) {
        const size_t floats = std::min(2 * kAhead, meta_.vectors - begin) * meta_.dimension;
        file_.expect(base::ReadPattern::Soon,
                     {reinterpret_cast<const char*>(data_.data() + begin * meta_.dimension),
                      floats * sizeof(float)});
      }
      const size_t count = std::min<size_t>(kBlock, meta_.vectors - begin);
      simd::dot_many(query.data(), data_.data() + begin * meta_.dimension, count, meta_.dimension,
                     meta_.dimension, scores.data());
      for (size_t i = 0; i < count; ++i) {
        while (first_[row + 1] <= begin + i) {
          finish_row(row++, row_score, best);
        }
        row_score = std::max(row_score, scores[i]);
      }
    }
    for (; row < meta_.rows; ++row) {
      finish_row(row, row_score, best);
    }
  }

  static void finish_row(size_t row, float& row_score, simd::TopK& best) {
    if (row_score > kNoVector) {
      best.add(row_score, row);
    }
    row_score = kNoVector;
  }

  /// Equal scores: the first part. A score that is no number never wins.
  VectorHit best_part(std::span<const float> query, uint32_t row) const {
    VectorHit hit{row, 0, kNoVector};
    std::array<float, kBlock> scores;
    for (size_t begin = first_[row]; begin < first_[row + 1]; begin += kBlock) {
      const size_t count = std::min<size_t>(kBlock, first_[row + 1] - begin);
      simd::dot_many(query.data(), data_.data() + begin * meta_.dimension, count, meta_.dimension,
                     meta_.dimension, scores.data());
      for (size_t i = 0; i < count; ++i) {
        if (scores[i] > hit.score) {
          hit.part = static_cast<uint32_t>(begin + i - first_[row]);
          hit.score = scores[i];
        }
      }
    }
    return hit;
  }

  CheckedFile file_;
  VectorMeta meta_;
  std::span<const uint32_t> first_;
  std::span<const float> data_;
  bool later_;  ///< Its vectors may still lie on the disk, and faults read no more than they must.
};

}  // namespace

Result<std::unique_ptr<VectorIndex>> open_exact_index(std::shared_ptr<const base::FileView> file,
                                                      const std::string& path, bool later) {
  constexpr std::array kLater = {kVectorData};
  Result<CheckedFile> opened =
      CheckedFile::open(std::move(file), path, kVectorMagic, kVectorVersion,
                        later ? std::span<const uint32_t>(kLater) : std::span<const uint32_t>(),
                        base::ReadPattern::Singly);
  if (!opened) {
    return pass_on(opened);
  }
  std::span<const VectorMeta> meta;
  if (!opened->array(kVectorMeta, 1, meta)) {
    return damaged(path, "its description has a wrong size");
  }
  const VectorMeta& about = meta.front();
  if (about.element != 0 || about.dimension == 0 || about.dimension > kVectorDimensionMax) {
    return damaged(path, fmt::format("element type {} or dimension {} is not one that is written",
                                     about.element, about.dimension));
  }
  std::span<const uint32_t> first;
  std::span<const float> data;
  // Both products below stay under 2^47: a section is shorter than its file.
  if (about.rows >= UINT32_MAX || about.vectors > UINT32_MAX ||
      !opened->array(kVectorFirst, about.rows + 1, first) ||
      !opened->array(kVectorData, about.vectors * about.dimension, data)) {
    return damaged(path, "a section's size does not fit the number of rows and vectors");
  }
  if (first.front() != 0 || first.back() != about.vectors ||
      !std::is_sorted(first.begin(), first.end())) {
    return damaged(path, "the rows' places of vectors do not ascend");
  }
  return std::make_unique<ExactIndex>(std::move(*opened), about, first, data, later);
}

}  // namespace sibyl::index
