#pragma once

#include <cstddef>
#include <cstdint>

namespace sibyl::simd {

/// All-pairs squared distances of packed rows, float32, at about the speed of a matrix product.
/// A panel holds kPanelRows rows, interleaved by dimension; rows beyond the last are zeros. The
/// distance of a pair has the same bits in either order and in any block (per instruction set).
/// Thread-safe.
inline constexpr size_t kPanelRows = 16;

/// Packs `count` rows (at most kPanelRows), less `centre`, into panel[dimension x kPanelRows].
void pack_panel(const float* const* rows, size_t count, const float* centre, size_t dimension,
                float* panel);

/// out[r * out_stride + j] = max(0, |a_r|^2 + |b_j|^2 - 2 a_r b_j) for the kPanelRows rows of
/// `panel` and the rows of `panels` consecutive panels at `others`; the norms are squared lengths,
/// kPanelRows for each panel. Accurate to about 2^-22 of |a|^2 + |b|^2; NaN becomes 0.
void panel_distances(const float* panel, const float* norms, const float* others,
                     const float* other_norms, size_t panels, size_t dimension, float* out,
                     size_t out_stride);

/// Writes the places of `values` that are less than `bound`, ascending, to `places` (room for
/// `count` and 16 more); returns how many.
size_t places_below(const float* values, size_t count, float bound, uint32_t* places);

}  // namespace sibyl::simd
