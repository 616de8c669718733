#include "index/internal/exact_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "simd/distance.h"

namespace sibyl::index {
namespace {
const float kLeastScore = std::nextafter(kNoVector, 0.0F);
}  // namespace

VectorHit exact_row_hit(const VectorIndex& vectors, Metric metric, std::span<const float> query,
                        uint32_t row) {
  constexpr size_t kTogether = 64;
  const size_t dimension = query.size();
  const std::span<const float> parts = vectors.vectors_of(row);
  const size_t count = parts.size() / dimension;
  VectorHit hit{row, 0, kNoVector};
  std::array<float, kTogether> scores;
  for (size_t begin = 0; begin < count; begin += kTogether) {
    const size_t some = std::min(kTogether, count - begin);
    const float* from = parts.data() + begin * dimension;
    if (metric == Metric::kInnerProduct) {
      simd::dot_many(query.data(), from, some, dimension, dimension, scores.data());
    } else {
      simd::squared_l2_many(query.data(), from, some, dimension, dimension, scores.data());
    }
    for (size_t i = 0; i < some; ++i) {
      // Beyond the ends of float32 scores are equal; no row with vectors scores as one without.
      const float score = std::clamp(metric == Metric::kInnerProduct ? scores[i] : -scores[i],
                                     kLeastScore, std::numeric_limits<float>::max());
      if (score > hit.score) {
        hit.part = static_cast<uint32_t>(begin + i);
        hit.score = score;
      }
    }
  }
  return hit;
}

void rank_rows_exactly(const VectorIndex& vectors, Metric metric, std::span<const float> query,
                       std::span<const uint32_t> rows, size_t wanted, std::vector<VectorHit>& out) {
  constexpr size_t kAhead = 8;
  constexpr size_t kPrefetchBytesMax = 2048;
  const auto prefetch = [&](uint32_t row) {
    const std::span<const float> soon = vectors.vectors_of(row);
    const auto* at = reinterpret_cast<const char*>(soon.data());
    const size_t bytes = std::min(soon.size_bytes(), kPrefetchBytesMax);
    for (size_t i = 0; i < bytes; i += 64) {
      __builtin_prefetch(at + i);
    }
  };
  out.clear();
  for (size_t i = 0; i < std::min(kAhead, rows.size()); ++i) {
    prefetch(rows[i]);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) {
      prefetch(rows[i + kAhead]);
    }
    const VectorHit hit = exact_row_hit(vectors, metric, query, rows[i]);
    if (hit.score > kNoVector) {
      out.push_back(hit);
    }
  }
  const auto better = [](const VectorHit& a, const VectorHit& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  };
  const size_t kept = std::min(wanted, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<ptrdiff_t>(kept), out.end(), better);
  out.resize(kept);
}

void collect_rows(const RowSet* allowed, size_t count, std::vector<uint32_t>& out) {
  out.clear();
  if (allowed != nullptr) {
    allowed->for_each([&out](size_t row) { out.push_back(static_cast<uint32_t>(row)); });
  } else {
    out.resize(count);
    std::iota(out.begin(), out.end(), 0U);
  }
}

}  // namespace sibyl::index
