#pragma once

#include <algorithm>
#include <cstddef>

namespace sibyl::simd {

/// Many queries against many rows with a kernel of one query: dot_many, byte_dot_many, ... Rows are
/// taken in tiles that stay in the nearest cache while all queries pass, so each result has the
/// same bits as the kernel alone gives. out[q * out_stride + r]; strides count elements.
template <class Many, class Query, class Base, class Out>
void many_to_many(const Many& many, const Query* queries, size_t query_count, size_t query_stride,
                  const Base* base, size_t rows, size_t stride, size_t dimension, Out* out,
                  size_t out_stride) {
  constexpr size_t kTileBytes = 24576;  // half of a small first-level cache
  const size_t row_bytes = std::max<size_t>(1, stride * sizeof(Base));
  const size_t tile = std::max<size_t>(4, kTileBytes / row_bytes / 4 * 4);
  for (size_t begin = 0; begin < rows; begin += tile) {
    const size_t count = std::min(tile, rows - begin);
    for (size_t q = 0; q < query_count; ++q) {
      many(queries + q * query_stride, base + begin * stride, count, stride, dimension,
           out + q * out_stride + begin);
    }
  }
}

}  // namespace sibyl::simd
