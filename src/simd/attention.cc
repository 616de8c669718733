#include <algorithm>

#include <hwy/aligned_allocator.h>

#include "simd/internal/targets.h"
#include "simd/neural.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/attention.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

// Attention as two products with a packed right side: scores = Q K^T, then out = softmax(scores) V.
// The right side is copied into panels of two vectors' width, so the inner loop reads it in a line,
// and keeps kRowsTogether x 2 sums in registers. Every sum runs over its terms from first to last
// in one lane: blocking cannot change a bit.

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr size_t kRowsTogether = 12;  // 24 of 32 registers
constexpr size_t kRowsFew = 4;
#else
constexpr size_t kRowsTogether = 6;  // 12 of 16 registers
constexpr size_t kRowsFew = 2;
#endif

/// c[r][0..columns) = sum over i of a[r][i] * panel[i][0..2 lanes); columns <= 2 lanes.
template <size_t kRows>
HWY_INLINE void panel_product(const float* a, size_t a_stride, size_t terms, const float* panel,
                              size_t columns, float* c, size_t c_stride) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  FloatVector low[kRows];
  FloatVector high[kRows];
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    low[r] = hn::Zero(d);
    high[r] = hn::Zero(d);
  }
  for (size_t i = 0; i < terms; ++i) {
    const auto first = hn::Load(d, panel + i * 2 * lanes);
    const auto second = hn::Load(d, panel + i * 2 * lanes + lanes);
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a[r * a_stride + i]);
      low[r] = hn::MulAdd(factor, first, low[r]);
      high[r] = hn::MulAdd(factor, second, high[r]);
    }
  }
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    float* to = c + r * c_stride;
    if (columns == 2 * lanes) {
      hn::StoreU(low[r], d, to);
      hn::StoreU(high[r], d, to + lanes);
    } else if (columns > lanes) {
      hn::StoreU(low[r], d, to);
      store_partial(d, high[r], to + lanes, columns - lanes);
    } else if (columns == lanes) {
      hn::StoreU(low[r], d, to);
    } else {
      store_partial(d, low[r], to, columns);
    }
  }
}

/// Panels of the transposed keys: panel p holds keys [p * width, ...), one row a dimension.
HWY_INLINE void pack_keys(const float* k, size_t tokens, size_t dimension, size_t stride,
                          size_t width, float* panels) {
  for (size_t begin = 0; begin < tokens; begin += width, panels += width * dimension) {
    const size_t count = std::min(width, tokens - begin);
    for (size_t j = 0; j < count; ++j) {
      const float* key = k + (begin + j) * stride;
      for (size_t i = 0; i < dimension; ++i) {
        panels[i * width + j] = key[i];
      }
    }
    for (size_t j = count; j < width; ++j) {
      for (size_t i = 0; i < dimension; ++i) {
        panels[i * width + j] = 0;
      }
    }
  }
}

/// Panels of the values: panel p holds dimensions [p * width, ...), one row a token.
HWY_INLINE void pack_values(const float* v, size_t tokens, size_t dimension, size_t stride,
                            size_t width, float* panels) {
  for (size_t begin = 0; begin < dimension; begin += width) {
    const size_t count = std::min(width, dimension - begin);
    for (size_t t = 0; t < tokens; ++t, panels += width) {
      const float* value = v + t * stride + begin;
      std::copy(value, value + count, panels);
      std::fill(panels + count, panels + width, 0.0f);
    }
  }
}

struct Head {
  const float* q;
  const float* keys;    // packed
  const float* values;  // packed
  size_t tokens;
  size_t dimension;
  size_t stride;
  float scale;
  float* scratch;
  float* out;
  size_t out_stride;
};

template <size_t kRows>
HWY_INLINE void attend_rows(const Head& head, size_t row) {
  const Floats d;
  const size_t width = 2 * hn::Lanes(d);
  const float* panel = head.keys;
  for (size_t j = 0; j < head.tokens; j += width, panel += width * head.dimension) {
    panel_product<kRows>(head.q + row * head.stride, head.stride, head.dimension, panel,
                         std::min(width, head.tokens - j), head.scratch + j, head.tokens);
  }
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    softmax_row(head.scratch + r * head.tokens, head.tokens, head.scale);
  }
  panel = head.values;
  for (size_t i = 0; i < head.dimension; i += width, panel += width * head.tokens) {
    panel_product<kRows>(head.scratch, head.tokens, head.tokens, panel,
                         std::min(width, head.dimension - i), head.out + row * head.out_stride + i,
                         head.out_stride);
  }
}

size_t panel_width() {
  return 2 * hn::Lanes(Floats());
}

/// `packed` holds both packed sides, aligned.
void attention_head(const float* q, const float* k, const float* v, size_t tokens, size_t dimension,
                    size_t stride, float scale, float* scratch, float* out, size_t out_stride,
                    float* packed) {
  const size_t width = panel_width();
  float* values = packed + (tokens + width - 1) / width * width * dimension;
  pack_keys(k, tokens, dimension, stride, width, packed);
  pack_values(v, tokens, dimension, stride, width, values);
  const Head head{q, packed, values, tokens, dimension, stride, scale, scratch, out, out_stride};
  size_t row = 0;
  for (; row + kRowsTogether <= tokens; row += kRowsTogether) {
    attend_rows<kRowsTogether>(head, row);
  }
  for (; row + kRowsFew <= tokens; row += kRowsFew) {
    attend_rows<kRowsFew>(head, row);
  }
  for (; row < tokens; ++row) {
    attend_rows<1>(head, row);
  }
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(panel_width);
HWY_EXPORT(attention_head);

namespace {
/// Grows to the longest sequence that the thread has met and stays.
struct PackBuffer {
  hwy::AlignedFreeUniquePtr<float[]> floats;
  size_t size = 0;
  float* at_least(size_t wanted) {
    if (wanted > size) {
      floats = hwy::AllocateAligned<float>(wanted);
      size = wanted;
    }
    return floats.get();
  }
};
}  // namespace

void attention_head(const float* q, const float* k, const float* v, size_t tokens,
                    size_t head_dimension, size_t stride, float scale, float* scratch, float* out,
                    size_t out_stride) {
  thread_local PackBuffer buffer;
  const size_t width = HWY_DYNAMIC_DISPATCH(panel_width)();
  const auto up = [width](size_t count) { return (count + width - 1) / width * width; };
  float* packed = buffer.at_least(up(tokens) * head_dimension + up(head_dimension) * tokens);
  HWY_DYNAMIC_DISPATCH(attention_head)
  (q, k, v, tokens, head_dimension, stride, scale, scratch, out, out_stride, packed);
}

}  // namespace sibyl::simd
#endif
