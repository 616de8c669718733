#include "index/internal/flat_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "index/checked_file.h"

namespace sibyl::index {
namespace {

constexpr size_t kSampleMax = 4096;

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

std::vector<uint32_t> first_vectors(const VectorIndex& vectors) {
  std::vector<uint32_t> first(vectors.rows() + 1, 0);
  for (size_t row = 0; row < vectors.rows(); ++row) {
    const size_t parts =
        vectors.vectors_of(static_cast<uint32_t>(row)).size() / vectors.dimension();
    first[row + 1] = first[row] + static_cast<uint32_t>(parts);
  }
  return first;
}

uint64_t flat_fingerprint(const VectorIndex& vectors, std::span<const uint32_t> first) {
  const size_t count = first.back();
  std::string about;
  base::put_u64(about, vectors.rows());
  base::put_u64(about, count);
  base::put_u64(about, vectors.dimension());
  base::put_u64(about, base::hash64(bytes_of(first)));
  const size_t samples = std::min(count, kSampleMax);
  for (size_t i = 0; i < samples; ++i) {
    const auto vector = static_cast<uint32_t>(i * count / samples);
    const size_t row =
        static_cast<size_t>(std::upper_bound(first.begin(), first.end(), vector) - first.begin()) -
        1;
    const auto numbers =
        vectors.vectors_of(static_cast<uint32_t>(row))
            .subspan((vector - first[row]) * vectors.dimension(), vectors.dimension());
    base::put_u64(about, base::hash64(bytes_of(numbers)));
  }
  return base::hash64(about);
}

Result<void> check_origin(const VectorOrigin& origin, const VectorIndex& vectors,
                          std::span<const uint32_t> first, const std::string& path) {
  if (origin.rows != vectors.rows() || origin.vectors != vectors.vectors() ||
      origin.dimension != vectors.dimension()) {
    return damaged(path,
                   fmt::format("it was made from other vectors ({} of dimension {} in {} rows; "
                               "here are {} of dimension {} in {} rows); make it again",
                               origin.vectors, origin.dimension, origin.rows, vectors.vectors(),
                               vectors.dimension(), vectors.rows()));
  }
  if (origin.fingerprint != flat_fingerprint(vectors, first)) {
    return damaged(path,
                   "it was made from other vectors, as many but with other values; make it again");
  }
  return {};
}

}  // namespace sibyl::index
