#include "simd/matrix_distance.h"

#include <algorithm>

#include "simd/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/matrix_distance.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: compiled anew for each instruction set.
#include "simd/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sibyl::simd::HWY_NAMESPACE {

// Registers decide the block: rows of the panel whose values are spread, times panels beside it.
// 512 bits: 8 x 2 panels; 256 bits: 5, 5 and 6 rows x 1 panel of two vectors; NEON has 32
// registers.
#if HWY_TARGET == HWY_AVX3
constexpr size_t kPanelsTogether = 2;
constexpr size_t kRowsFirst = 8;
constexpr size_t kRowsLast = 8;
#elif HWY_TARGET == HWY_AVX2
constexpr size_t kPanelsTogether = 1;
constexpr size_t kRowsFirst = 5;
constexpr size_t kRowsLast = 6;
#elif HWY_TARGET == HWY_NEON
constexpr size_t kPanelsTogether = 1;
constexpr size_t kRowsFirst = 4;
constexpr size_t kRowsLast = 4;
#else
constexpr size_t kPanelsTogether = 1;
constexpr size_t kRowsFirst = 2;
constexpr size_t kRowsLast = 2;
#endif

// No vector is wider than a panel: arrays of sums have a fixed size.
using PanelFloats = hn::CappedTag<float, kPanelRows>;
using PanelVector = hn::Vec<PanelFloats>;

/// Dimensions [from, dimension) of rows [first, last), value by value.
HWY_INLINE void pack_values(const float* const* rows, size_t first, size_t last,
                            const float* centre, size_t from, size_t dimension, float* panel) {
  for (size_t r = first; r < last; ++r) {
    for (size_t k = from; k < dimension; ++k) {
      panel[k * kPanelRows + r] = rows[r][k] - centre[k];
    }
  }
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE size_t pack_four(const float* const*, const float*, size_t, float*) {
  return 0;
}
#else
/// Whole blocks of four dimensions of four rows; returns how many dimensions.
HWY_INLINE size_t pack_four(const float* const* rows, const float* centre, size_t dimension,
                            float* panel) {
  const hn::FixedTag<float, 4> d;
  size_t k = 0;
  for (; k + 4 <= dimension; k += 4) {
    const auto less = hn::LoadU(d, centre + k);
    const auto row0 = hn::Sub(hn::LoadU(d, rows[0] + k), less);
    const auto row1 = hn::Sub(hn::LoadU(d, rows[1] + k), less);
    const auto row2 = hn::Sub(hn::LoadU(d, rows[2] + k), less);
    const auto row3 = hn::Sub(hn::LoadU(d, rows[3] + k), less);
    const auto low01 = hn::InterleaveLower(d, row0, row1);
    const auto low23 = hn::InterleaveLower(d, row2, row3);
    const auto high01 = hn::InterleaveUpper(d, row0, row1);
    const auto high23 = hn::InterleaveUpper(d, row2, row3);
    float* to = panel + k * kPanelRows;
    hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
    hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + kPanelRows);
    hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * kPanelRows);
    hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * kPanelRows);
  }
  return k;
}
#endif

void pack_panel(const float* const* rows, size_t count, const float* centre, size_t dimension,
                float* panel) {
  if (count < kPanelRows) {
    std::fill(panel, panel + dimension * kPanelRows, 0.0F);
  }
  size_t r = 0;
  for (; r + 4 <= count; r += 4) {
    const size_t whole = pack_four(rows + r, centre, dimension, panel + r);
    pack_values(rows, r, r + 4, centre, whole, dimension, panel);
  }
  pack_values(rows, r, count, centre, 0, dimension, panel);
}

struct Strip {
  const float* panel;
  const float* norms;
  const float* others;
  const float* other_norms;
  size_t dimension;
  float* out;
  size_t out_stride;
};

/// Each product has one sum over the dimensions in order, whatever the block.
template <size_t kRows, size_t kPanels>
HWY_INLINE void block(const Strip& s, size_t row, size_t other) {
  const PanelFloats d;
  constexpr size_t kLanes = hn::MaxLanes(PanelFloats());
  constexpr size_t kVectors = kPanels * kPanelRows / kLanes;
  PanelVector sums[kRows][kVectors];
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SIBYL_SIMD_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::Zero(d);
    }
  }
  const size_t panel_floats = s.dimension * kPanelRows;
  const float* others = s.others + other * panel_floats;
  const float* rows = s.panel + row;
  for (size_t k = 0; k < s.dimension; ++k) {
    PanelVector right[kVectors];
    SIBYL_SIMD_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t at = v * kLanes;
      right[v] = hn::LoadU(d, others + at / kPanelRows * panel_floats + at % kPanelRows);
    }
    SIBYL_SIMD_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, rows[r]);
      SIBYL_SIMD_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
      }
    }
    others += kPanelRows;
    rows += kPanelRows;
  }
  const auto minus_two = hn::Set(d, -2.0F);
  SIBYL_SIMD_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    const auto norm = hn::Set(d, s.norms[row + r]);
    SIBYL_SIMD_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t column = other * kPanelRows + v * kLanes;
      const auto both = hn::Add(norm, hn::LoadU(d, s.other_norms + column));
      const auto distance = hn::MulAdd(minus_two, sums[r][v], both);
      // False for NaN too.
      const auto positive = hn::IfThenElseZero(hn::Gt(distance, hn::Zero(d)), distance);
      hn::StoreU(positive, d, s.out + (row + r) * s.out_stride + column);
    }
  }
}

template <size_t kPanels>
HWY_INLINE void all_rows(const Strip& s, size_t other) {
  size_t row = 0;
  for (; row + kRowsFirst + kRowsLast <= kPanelRows; row += kRowsFirst) {
    block<kRowsFirst, kPanels>(s, row, other);
  }
  for (; row < kPanelRows; row += kRowsLast) {
    block<kRowsLast, kPanels>(s, row, other);
  }
}

void panel_distances(const float* panel, const float* norms, const float* others,
                     const float* other_norms, size_t panels, size_t dimension, float* out,
                     size_t out_stride) {
  const Strip strip{panel, norms, others, other_norms, dimension, out, out_stride};
  size_t other = 0;
  for (; other + kPanelsTogether <= panels; other += kPanelsTogether) {
    all_rows<kPanelsTogether>(strip, other);
  }
  for (; other < panels; ++other) {
    all_rows<1>(strip, other);
  }
}

size_t places_below(const float* values, size_t count, float bound, uint32_t* places) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const size_t lanes = hn::Lanes(d);
  const auto bounds = hn::Set(d, bound);
  auto place = hn::Iota(du, 0);
  const auto step = hn::Set(du, static_cast<uint32_t>(lanes));
  size_t found = 0;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto below = hn::Lt(hn::LoadU(d, values + i), bounds);
    if (!hn::AllFalse(d, below)) {
      found += hn::CompressStore(place, hn::RebindMask(du, below), du, places + found);
    }
    place = hn::Add(place, step);
  }
  for (; i < count; ++i) {
    places[found] = static_cast<uint32_t>(i);
    found += values[i] < bound ? 1 : 0;
  }
  return found;
}

}  // namespace sibyl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sibyl::simd {

HWY_EXPORT(pack_panel);
HWY_EXPORT(panel_distances);
HWY_EXPORT(places_below);

void pack_panel(const float* const* rows, size_t count, const float* centre, size_t dimension,
                float* panel) {
  HWY_DYNAMIC_DISPATCH(pack_panel)(rows, count, centre, dimension, panel);
}

void panel_distances(const float* panel, const float* norms, const float* others,
                     const float* other_norms, size_t panels, size_t dimension, float* out,
                     size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(panel_distances)
  (panel, norms, others, other_norms, panels, dimension, out, out_stride);
}

size_t places_below(const float* values, size_t count, float bound, uint32_t* places) {
  return HWY_DYNAMIC_DISPATCH(places_below)(values, count, bound, places);
}

}  // namespace sibyl::simd
#endif
