#include "simd/code_distance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simd/distance.h"

// What is made of inner products and squares.

namespace sibyl::simd {
namespace {

constexpr size_t kTogether = 16;

/// |q - r|^2 = |q|^2 + |r|^2 - 2 q r.
void squared_l2(int64_t query_square, const int32_t* squares, const int32_t* dots, size_t count,
                int32_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<int32_t>(query_square + squares[i] - 2 * int64_t{dots[i]});
  }
}

float cosine_of(double dot, double query_square, double row_square) {
  const double lengths = std::sqrt(query_square) * std::sqrt(row_square);
  return lengths == 0 ? 0.0F : static_cast<float>(dot / lengths);
}

int64_t square_of(const int8_t* query, size_t dimension) {
  int64_t sum = 0;
  for (size_t i = 0; i < dimension; ++i) {
    sum += int64_t{query[i]} * query[i];
  }
  return sum;
}

/// Calls some(first row, count, dots, squares) for runs of rows.
template <class Dots, class Squares, class Some>
void with_squares(size_t rows, const Dots& dots_of, const Squares& squares_of, const Some& some) {
  std::array<int32_t, kTogether> dots;
  std::array<int32_t, kTogether> squares;
  for (size_t r = 0; r < rows; r += kTogether) {
    const size_t count = std::min(kTogether, rows - r);
    dots_of(r, count, dots.data());
    squares_of(r, count, squares.data());
    some(r, count, dots.data(), squares.data());
  }
}

template <class Some>
void byte_rows(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
               size_t dimension, const Some& some) {
  with_squares(
      rows,
      [&](size_t r, size_t count, int32_t* dots) {
        byte_dot_many(query, base + r * stride, count, stride, dimension, dots);
      },
      [&](size_t r, size_t count, int32_t* squares) {
        byte_square_many(base + r * stride, count, stride, dimension, squares);
      },
      some);
}

template <class Some>
void nibble_rows(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                 size_t dimension, const Some& some) {
  with_squares(
      rows,
      [&](size_t r, size_t count, int32_t* dots) {
        nibble_dot_many(query, base + r * stride, count, stride, dimension, dots);
      },
      [&](size_t r, size_t count, int32_t* squares) {
        nibble_square_many(base + r * stride, count, stride, dimension, squares);
      },
      some);
}

/// Writes the distances of a run.
auto distances_into(int32_t* out, int64_t query_square) {
  return [out, query_square](size_t r, size_t count, const int32_t* dots, const int32_t* squares) {
    squared_l2(query_square, squares, dots, count, out + r);
  };
}

auto cosines_into(float* out, int64_t query_square) {
  return [out, query_square](size_t r, size_t count, const int32_t* dots, const int32_t* squares) {
    for (size_t i = 0; i < count; ++i) {
      out[r + i] = cosine_of(dots[i], static_cast<double>(query_square), squares[i]);
    }
  };
}

}  // namespace

void byte_squared_l2_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                          size_t dimension, int32_t* out) {
  byte_rows(query, base, rows, stride, dimension, distances_into(out, square_of(query, dimension)));
}

void byte_cosine_many(const int8_t* query, const int8_t* base, size_t rows, size_t stride,
                      size_t dimension, float* out) {
  byte_rows(query, base, rows, stride, dimension, cosines_into(out, square_of(query, dimension)));
}

void nibble_squared_l2_many(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                            size_t dimension, int32_t* out) {
  nibble_rows(query, base, rows, stride, dimension,
              distances_into(out, square_of(query, dimension)));
}

void nibble_cosine_many(const int8_t* query, const uint8_t* base, size_t rows, size_t stride,
                        size_t dimension, float* out) {
  nibble_rows(query, base, rows, stride, dimension, cosines_into(out, square_of(query, dimension)));
}

void bit_cosine_many(const uint8_t* query, const uint8_t* base, size_t rows, size_t stride,
                     size_t dimension, float* out) {
  int32_t query_square = 0;
  bit_dot_many(query, query, 1, stride, dimension, &query_square);
  for (size_t r = 0; r < rows; ++r) {
    const uint8_t* row = base + r * stride;
    int32_t dot = 0;
    int32_t square = 0;
    bit_dot_many(query, row, 1, stride, dimension, &dot);
    bit_dot_many(row, row, 1, stride, dimension, &square);
    out[r] = cosine_of(dot, query_square, square);
  }
}

void nibble_pack(const uint8_t* numbers, size_t dimension, uint8_t* row) {
  for (size_t i = 0; i < nibble_bytes(dimension); ++i) {
    const size_t low = i / 32 * 64 + i % 32;
    const size_t high = low + 32;
    const unsigned low_bits = low < dimension ? numbers[low] & 15U : 0U;
    const unsigned high_bits = high < dimension ? numbers[high] & 15U : 0U;
    row[i] = static_cast<uint8_t>(low_bits | high_bits << 4);
  }
}

void cosine_many(const float* query, const float* base, size_t rows, size_t stride,
                 size_t dimension, float* out) {
  const double query_square = dot(query, query, dimension);
  for (size_t begin = 0; begin < rows; begin += kTogether) {
    const size_t end = std::min(rows, begin + kTogether);
    dot_many(query, base + begin * stride, end - begin, stride, dimension, out + begin);
    for (size_t r = begin; r < end; ++r) {
      const float* row = base + r * stride;
      out[r] = cosine_of(out[r], query_square, dot(row, row, dimension));
    }
  }
}

void half_cosine_many(const float* query, const uint16_t* base, size_t rows, size_t stride,
                      size_t dimension, float* out) {
  const double query_square = dot(query, query, dimension);
  std::array<float, kTogether> squares;
  for (size_t begin = 0; begin < rows; begin += kTogether) {
    const size_t count = std::min(rows - begin, kTogether);
    half_dot_many(query, base + begin * stride, count, stride, dimension, out + begin);
    half_square_many(base + begin * stride, count, stride, dimension, squares.data());
    for (size_t i = 0; i < count; ++i) {
      out[begin + i] = cosine_of(out[begin + i], query_square, squares[i]);
    }
  }
}

}  // namespace sibyl::simd
