#include "index/internal/vector_file.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "index/vector_index.h"

namespace sibyl::index {

Result<void> check_vectors(std::span<const float> vectors, size_t dimension) {
  if (dimension == 0 || vectors.size() % dimension != 0) {
    return fail(Code::InvalidData,
                "a vector has {} numbers, which is no multiple of the dimension {}; give whole "
                "vectors of that dimension",
                vectors.size(), dimension);
  }
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (!std::isfinite(vectors[i])) {
      return fail(Code::InvalidData, "number {} of vector {} is {}; only finite numbers are stored",
                  i % dimension, i / dimension, vectors[i]);
    }
  }
  return {};
}

Result<void> write_vector_file(size_t dimension, std::span<const uint32_t> parts,
                               const std::function<std::span<const float>(size_t row)>& vectors_of,
                               const ByteSink& sink) {
  std::vector<uint32_t> first(parts.size() + 1, 0);
  uint64_t vectors = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    vectors += parts[i];
    if (vectors > std::numeric_limits<uint32_t>::max()) {
      return fail(Code::TooLarge, "a vector file holds at most {} vectors",
                  std::numeric_limits<uint32_t>::max());
    }
    first[i + 1] = static_cast<uint32_t>(vectors);
  }
  const VectorMeta meta{parts.size(), vectors, static_cast<uint32_t>(dimension), 0};
  CheckedFileWriter writer(kVectorMagic, kVectorVersion,
                           {{kVectorMeta, sizeof(meta)},
                            {kVectorFirst, first.size() * sizeof(uint32_t)},
                            {kVectorData, vectors * dimension * sizeof(float)}},
                           sink);
  Result<void> done = writer.append_values(std::span<const VectorMeta>(&meta, 1));
  if (done) {
    done = writer.append_values(std::span<const uint32_t>(first));
  }
  for (size_t i = 0; i < parts.size() && done; ++i) {
    const std::span<const float> row = vectors_of(i);
    base::check(row.size() == parts[i] * dimension, "a row keeps its number of vectors");
    done = writer.append_values(row);
  }
  return done ? writer.finish() : done;
}

VectorFileBuilder::VectorFileBuilder(size_t dimension) : dimension_(dimension), first_vector_{0} {
  base::check(dimension > 0 && dimension <= kVectorDimensionMax, "a dimension the format knows");
}

Result<void> VectorFileBuilder::add_row(std::span<const float> vectors) {
  if (Result<void> checked = check_vectors(vectors, dimension_); !checked) {
    return checked;
  }
  const size_t count = vectors.size() / dimension_;
  if (count > std::numeric_limits<uint32_t>::max() - first_vector_.back()) {
    return fail(Code::TooLarge, "a vector file holds at most {} vectors",
                std::numeric_limits<uint32_t>::max());
  }
  data_.insert(data_.end(), vectors.begin(), vectors.end());
  first_vector_.push_back(first_vector_.back() + static_cast<uint32_t>(count));
  return {};
}

Result<void> VectorFileBuilder::write(const ByteSink& sink) const {
  std::vector<uint32_t> parts(rows());
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = first_vector_[i + 1] - first_vector_[i];
  }
  return write_vector_file(
      dimension_, parts,
      [this](size_t row) {
        return std::span(data_).subspan(size_t{first_vector_[row]} * dimension_,
                                        (first_vector_[row + 1] - first_vector_[row]) * dimension_);
      },
      sink);
}

std::string VectorFileBuilder::finish() {
  std::string bytes;
  const Result<void> written = write([&bytes](std::string_view part) -> Result<void> {
    bytes += part;
    return {};
  });
  base::check(written.has_value(), "memory takes every byte");
  return bytes;
}

}  // namespace sibyl::index
