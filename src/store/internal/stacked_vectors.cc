#include "store/internal/stacked_vectors.h"

#include <algorithm>

#include "base/check.h"

namespace sibyl::store {

StackedVectors::StackedVectors(std::vector<std::shared_ptr<const index::VectorIndex>> parts)
    : parts_(std::move(parts)), first_rows_(1, 0) {
  base::check(!parts_.empty(), "there are vectors to stack");
  for (const auto& part : parts_) {
    first_rows_.push_back(first_rows_.back() + static_cast<uint32_t>(part->rows()));
    vectors_ += part->vectors();
  }
}

size_t StackedVectors::mapped_bytes() const {
  size_t bytes = 0;
  for (const auto& part : parts_) {
    bytes += part->mapped_bytes();
  }
  return bytes;
}

size_t StackedVectors::part_of(uint32_t row) const {
  const auto after = std::upper_bound(first_rows_.begin(), first_rows_.end(), row);
  return static_cast<size_t>(after - first_rows_.begin()) - 1;
}

std::span<const float> StackedVectors::vectors_of(uint32_t row) const {
  const size_t part = part_of(row);
  return parts_[part]->vectors_of(row - first_rows_[part]);
}

void StackedVectors::score(std::span<const float> query, std::span<const uint32_t> rows,
                           std::span<index::VectorHit> out) const {
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t part = part_of(rows[i]);
    const uint32_t row = rows[i] - first_rows_[part];
    parts_[part]->score(query, std::span(&row, 1), out.subspan(i, 1));
    out[i].row = rows[i];
  }
}

void StackedVectors::search(std::span<const float> query, size_t k, const index::RowSet* allowed,
                            std::vector<index::VectorHit>& out) const {
  out.clear();
  std::vector<index::VectorHit> found;
  for (size_t part = 0; part < parts_.size(); ++part) {
    const size_t rows = parts_[part]->rows();
    index::RowSet own(allowed == nullptr ? 0 : rows);
    for (size_t row = 0; row < rows && allowed != nullptr; ++row) {
      if (allowed->contains(first_rows_[part] + row)) {
        own.insert(row);
      }
    }
    parts_[part]->search(query, k, allowed == nullptr ? nullptr : &own, found);
    for (index::VectorHit hit : found) {
      hit.row += first_rows_[part];
      out.push_back(hit);
    }
  }
  const auto better = [](const index::VectorHit& a, const index::VectorHit& b) {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
  };
  const auto end = out.begin() + static_cast<ptrdiff_t>(std::min(k, out.size()));
  std::partial_sort(out.begin(), end, out.end(), better);
  out.erase(end, out.end());
}

void place_rows(const index::RowSet* source, size_t rows, size_t offset, index::RowSet& target) {
  const std::span<uint64_t> words = target.words();
  const size_t shift = offset % 64;
  const size_t first = offset / 64;
  for (size_t i = 0; i * 64 < rows; ++i) {
    const size_t bits = std::min<size_t>(64, rows - i * 64);
    const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const uint64_t word = source == nullptr ? all : source->words()[i] & all;
    words[first + i] |= word << shift;
    if (shift != 0 && (word >> (64 - shift)) != 0) {
      words[first + i + 1] |= word >> (64 - shift);
    }
  }
}

}  // namespace sibyl::store
